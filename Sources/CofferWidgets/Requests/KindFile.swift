internal import AppContainers
internal import CofferFiles
internal import Glibc

/// The file of a kind that a program shows or has shown. Its size is the number of requests, one byte each, and the program that
/// shows the kind holds a lock on it.
///
/// A request is one append of one byte, which is atomic even if the process is killed, and never waits. The program that shows
/// the kind only reads the size. It truncates the file once, before it calls the provider for the first time.
final class KindFile: Sendable {
  let name: KindName
  private let file: OpenFile
  private let directory: OpenDirectory

  private init(_ name: KindName, _ file: OpenFile, in directory: OpenDirectory) {
    self.name = name
    self.file = file
    self.directory = directory
  }

  /// nil if there is none.
  static func existing(_ name: KindName, in directory: OpenDirectory) throws(WidgetError) -> KindFile? {
    try opened(name, in: directory, 0)
  }

  /// Opens the file, or creates it. nil if the directory was deleted.
  static func made(_ name: KindName, in directory: OpenDirectory) throws(WidgetError) -> KindFile? {
    try opened(name, in: directory, O_CREAT)
  }

  private static func opened(_ name: KindName, in directory: OpenDirectory, _ flags: Int32) throws(WidgetError) -> KindFile? {
    do throws(FileError) {
      return try directory.existing(name.file, flags | O_WRONLY | O_APPEND).map { KindFile(name, $0, in: directory) }
    } catch {
      throw WidgetError(error)
    }
  }

  // MARK: The lock of the host

  /// Locks the file until this object is deallocated or the process ends. A forked process keeps the lock, too.
  /// - Throws: `kindInUse`.
  func claim() throws(WidgetError) {
    switch FileLock(on: file.number, byte: 0).attempt() {
    case .taken: return
    case .busy: throw WidgetError(.kindInUse, "another program of the app shows \(name.kind)")
    case .failed(let number): throw WidgetError(errno: number, file.path)
    }
  }

  /// Whether a program shows the kind. Testing takes no lock, so it does not prevent a host from taking it.
  var isClaimed: Bool {
    get throws(WidgetError) {
      guard let isHeld = FileLock.isHeld(0..<1, on: file.number) else { throw WidgetError(errno: errno, file.path) }
      return isHeld
    }
  }

  // MARK: Requests

  /// The number of requests since the file was truncated.
  var requestCount: Int {
    get throws(WidgetError) {
      do throws(FileError) { return try file.byteCount } catch { throw WidgetError(error) }
    }
  }

  func addRequest() throws(WidgetError) {
    do throws(FileError) { try file.write([UInt8(ascii: ".")]) } catch { throw WidgetError(error) }
  }

  func empty() throws(WidgetError) {
    let emptied = retrying { ftruncate(file.number, 0) }
    guard emptied.result == 0 else { throw WidgetError(errno: emptied.errno, file.path) }
  }

  /// Whether the open file is still at its name, not deleted or replaced.
  var isInPlace: Bool {
    get throws(WidgetError) {
      do throws(FileError) {
        return try directory.status(name.file)?.isSameFile(as: file.status()) == true
      } catch {
        throw WidgetError(error)
      }
    }
  }
}

extension WidgetError {
  init(errno number: Int32, _ subject: String) { self.init(.container, "\(subject): \(ErrorNumber.text(of: number))") }
}
