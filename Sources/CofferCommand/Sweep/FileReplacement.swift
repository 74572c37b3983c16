import CofferConsole
import CofferFiles
import ForeignFormats
import SecretMemory

/// Takes the place of a file in one step, with the same mode, owner and extended attributes. A process that is killed leaves the old file or
/// the new one.
struct FileReplacement: ~Copyable {
  private let content: ReadFile
  private let new: NewFile<FileError>

  /// Makes the new file, still empty. So what would refuse it does so before the vault is changed.
  /// - Throws: denied, I/O.
  init(of content: ReadFile) throws {
    try content.checkIsReplaceable()
    try TemporaryName.removeLeftovers(for: content.path)
    guard let old = try OpenFile.open(content.path, FileAttributes.readOnly) else {
      throw Failure(.notFound, "\(content.path): does not exist any more")
    }
    let made = try Self.made(for: content, like: old)
    self.content = content
    new = made
  }

  private static func made(for content: ReadFile, like old: OpenFile) throws -> NewFile<FileError> {
    let new = try NewFile<FileError>(at: TemporaryName.next(for: content.path), named: content.path)
    try FileAttributes.copy(from: old, to: new.file, content.status)
    return new
  }

  /// - Throws: I/O; conflict, if the file is no longer as it was read. Then it stays.
  consuming func place(_ bytes: borrowing Secret) throws {
    try bytes.withBytes { (bytes) throws(FileError) in try new.file.write(bytes) }
    try new.file.setMode(content.status.mode)
    try new.file.synchronize()
    try content.checkIsUnchanged()
    let path = content.path
    _ = try new.replace(path)
    try Files<FileError>.synchronizeDirectory(Path.parent(of: path))
  }
}
