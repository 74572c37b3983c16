internal import AppContainers
internal import CLinux
internal import Glibc
internal import SystemCalls

/// The file of a kind that some program shows, or has shown. It holds a byte for each request, so that its size counts them, and the
/// program that shows the kind holds a lock on it.
///
/// A request is one append of one byte: there is no half of it, whoever is killed, and nobody waits for anybody. The program that
/// shows the kind only reads the size. It empties the file once, before it asks the provider for the first time.
final class KindFile: Sendable {
  let name: KindName
  private let file: OpenFile
  private let directory: OpenDirectory

  private init(_ name: KindName, _ file: OpenFile, in directory: OpenDirectory) {
    self.name = name
    self.file = file
    self.directory = directory
  }

  /// Nil where there is none.
  static func existing(_ name: KindName, in directory: OpenDirectory) throws(WidgetError) -> KindFile? {
    try opened(name, in: directory, 0)
  }

  /// The one that is there, or a new one. Nil where the directory has gone.
  static func made(_ name: KindName, in directory: OpenDirectory) throws(WidgetError) -> KindFile? {
    try opened(name, in: directory, O_CREAT)
  }

  private static func opened(_ name: KindName, in directory: OpenDirectory, _ flags: Int32) throws(WidgetError) -> KindFile? {
    let flags = flags | O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
    let opened = retrying { unsafe openat(directory.number, "\(name.file)", flags, 0o600) }
    guard opened.result >= 0 else {
      if opened.errno == ENOENT { return nil }
      throw WidgetError(errno: opened.errno, directory.below(name.file))
    }
    return KindFile(name, OpenFile(adopting: opened.result, directory.below(name.file)), in: directory)
  }

  // MARK: Who shows the kind

  /// Until this object goes, or the process. A process that is forked off keeps it too.
  /// - Throws: `kindInUse`.
  func claim() throws(WidgetError) {
    let locked = retrying { coffer_ofd_lock(file.number, Int16(F_WRLCK), 0) }
    guard locked.result != 0 else { return }
    guard [EAGAIN, EACCES].contains(locked.errno) else { throw WidgetError(errno: locked.errno, file.path) }
    throw WidgetError(.kindInUse, "another program of the app shows \(name.kind)")
  }

  /// Whether some program shows the kind. Asking takes no lock, and so keeps nobody from it.
  var isClaimed: Bool {
    get throws(WidgetError) {
      let answer = retrying { coffer_ofd_is_locked(file.number, 0) }
      guard answer.errno == 0 else { throw WidgetError(errno: answer.errno, file.path) }
      return answer.result == 1
    }
  }

  // MARK: Requests

  /// Since it was emptied.
  var requestCount: Int {
    get throws(WidgetError) {
      do throws(ContainerError) { return try file.byteCount } catch { throw WidgetError(error) }
    }
  }

  func addRequest() throws(WidgetError) {
    do throws(ContainerError) { try file.write([UInt8(ascii: ".")]) } catch { throw WidgetError(error) }
  }

  func empty() throws(WidgetError) {
    let emptied = retrying { ftruncate(file.number, 0) }
    guard emptied.result == 0 else { throw WidgetError(errno: emptied.errno, file.path) }
  }

  /// Whether this is what lies under the name, not something that was removed or replaced.
  var isInPlace: Bool {
    get throws(WidgetError) {
      try FileIdentity(name.file, in: directory) == FileIdentity(of: file.number, file.path)
    }
  }
}

extension WidgetError {
  init(errno number: Int32, _ subject: String) { self.init(.container, "\(subject): \(ErrorNumber.text(of: number))") }
}
