import CofferConsole
import CofferFiles
import ForeignFormats
import Glibc
import ProgramSecrets
import SecretMemory

/// A file with the secrets that were found in it.
struct SweptFile {
  let place: SweepPlace
  /// nil if the file could not be read.
  let content: ReadFile?
  private(set) var findings: [SweepFinding] = []
  /// Why the file could not be read as what it is.
  private(set) var problem: Failure?

  init(_ place: SweepPlace) {
    self.place = place
    do {
      let content = try ReadFile(at: place.path)
      self.content = content
      do {
        findings = try SweepScan(content.text, place).findings()
      } catch {
        // Its lines may still have secrets.
        problem = Self.failure(error, place, content.text)
        findings = SweepScan(content.text, place).linesAlone().map { $0.staying("the file cannot be read in its format") }
      }
    } catch {
      content = nil
      problem = Self.failure(error, place, nil)
    }
    findings.sort { $0.line < $1.line }
    if let status = content?.status, !status.isOwnedHere { findings = findings.map { $0.staying("belongs to another user") } }
  }

  /// A new file that a killed sweep has left beside its place.
  init(leftAt place: SweepPlace, besideFile hasFile: Bool) {
    self.init(place)
    let reason = "a killed sweep has left this file: coffer sweep \(hasFile ? "--move" : "--undo") removes it"
    findings = findings.map { $0.staying(reason) }
  }

  private static func failure(_ error: any Error, _ place: SweepPlace, _ text: SourceText?) -> Failure {
    switch error {
    case let error as ForeignError: Failure(error, about: "\(place.path):\(error.line)")
    case let error as TextError: Failure(error, about: "\(place.path):\(text?.line(of: error.offset) ?? 1)")
    default: Failure(error, about: place.path)
    }
  }

  /// The same file, with the chosen findings alone.
  func keeping(_ chosen: [SweepFinding]) -> SweptFile {
    var file = self
    file.findings = chosen
    return file
  }
}

/// The content of a file at one moment, and the file that it was.
struct ReadFile {
  /// Without links.
  let path: String
  /// As it was named, perhaps a link.
  private let name: String
  let status: FileStatus
  let text: SourceText

  /// - Throws: I/O; `ForeignError`.
  init(at path: String) throws {
    guard let resolved = Path.resolved(path) else {
      // The system says what is in the way.
      _ = try OpenFile.open(path, O_RDONLY)
      throw Failure(.inputOutput, "\(path): leads nowhere")
    }
    guard let file = try OpenFile.open(resolved, O_RDONLY) else { throw Failure(.notFound, "\(path): does not exist") }
    (self.path, name) = (resolved, path)
    status = try file.status()
    text = try unsafe SourceText { buffer in
      var span = unsafe MutableRawSpan(_unsafeBytes: buffer)
      return try file.read(into: &span)
    }
  }

  /// - Throws: other, if another program has changed the file since, or a link to it.
  func checkIsUnchanged() throws {
    let now = try? ReadFile(at: name)
    guard let now, now.path == path, now.status.isSameFile(as: status), now.status.isSharedLike(status),
      now.text.isEqual(to: text)
    else {
      throw Failure(.other, "\(path): another program has changed it at this moment", hint: "the same command again")
    }
  }

  /// - Throws: what makes it impossible to write the file anew, so that it stays what it is.
  func checkIsReplaceable() throws {
    guard status.links == 1 else {
      throw Failure(
        .inputOutput, "\(path): has \(status.links) names, and another one would keep the secret", hint: "remove the other links")
    }
    guard status.isOwnedHere else {
      throw Failure(.denied, "\(path): belongs to another user", hint: "its owner can sweep it")
    }
    guard text.count <= SourceText.maximumFieldByteCount else {
      throw Failure(.usage, "\(path): more than 1 MiB, which no item can hold; --undo could not bring it back")
    }
  }
}

extension FileStatus {
  /// Not so for root and the file of another user, whose programs would not find the secret in the vault of root.
  fileprivate var isOwnedHere: Bool { owner == geteuid() }

  /// Whether the same users reach the content, by as many names.
  fileprivate func isSharedLike(_ other: FileStatus) -> Bool {
    owner == other.owner && group == other.group && mode == other.mode && links == other.links
  }
}
