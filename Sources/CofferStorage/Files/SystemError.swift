internal import CofferFiles
import Glibc

extension StorageError {
  /// The error for a failed system call. `missing` is the code for ENOENT and ENOTDIR, which mean something else for each file.
  init(errno number: Int32, _ what: String, missing: Code = .io) {
    let code: Code =
      switch number {
      case ENOENT, ENOTDIR: missing
      case ELOOP: .symbolicLink
      case EACCES, EPERM: .accessDenied
      case EROFS: .readOnly
      case ENOSPC, EDQUOT: .full
      case EMFILE, ENFILE: .descriptorsExhausted
      case ENOMEM: .outOfMemory
      default: .io
      }
    self.init(code, "\(what): \(ErrorNumber.text(of: number))")
  }
}
