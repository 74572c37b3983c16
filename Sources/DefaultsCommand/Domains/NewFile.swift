package import CofferFiles
import Glibc

typealias Files = CofferFiles.Files<DefaultsFailure>
typealias NewFile = CofferFiles.NewFile<DefaultsFailure>

extension DefaultsFailure: FileFailure {
  package init(_ error: FileError) { self = .failed(error.detail) }
}

extension CofferFiles.NewFile<DefaultsFailure> {
  /// A file with these bytes, which are on the disk, beside the one that it is going to replace.
  /// - Parameter status: of the file whose mode and owner it takes over; nil for 0600.
  /// - Throws: `DefaultsFailure`. Nothing is left behind.
  static func written(beside path: String, _ bytes: [UInt8], like status: FileStatus?) throws -> NewFile {
    let name = ".coffer-\(TemporaryName.hexadecimal(.random(in: 0 ... .max))).new"
    let new = try NewFile(at: Path.join(Path.parent(of: path), name), named: path)
    if let status {
      // Only root may give a file away; other users need not.
      _ = fchown(new.file.number, status.owner, status.group)
      _ = fchmod(new.file.number, status.mode & 0o777)
    }
    do throws(DefaultsFailure) {
      try new.file.write(bytes)
      try new.file.synchronize()
    } catch {
      throw DefaultsFailure.failed(error.reason, hint: "nothing has been changed")
    }
    return new
  }
}
