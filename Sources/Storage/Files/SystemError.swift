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
    self.init(code, "\(what): \(Self.text(of: number))")
  }

  static func text(of number: Int32) -> String {
    // strerror's buffer may be overwritten by another thread; strerror_r's is ours.
    let text = unsafe [UInt8](unsafeUninitializedCapacity: 128) { buffer, count in
      unsafe buffer.initialize(repeating: 0)
      let known = unsafe buffer.withMemoryRebound(to: CChar.self) { unsafe strerror_r(number, $0.baseAddress!, 128) == 0 }
      count = known ? unsafe buffer.prefix { $0 != 0 }.count : 0
    }
    return text.isEmpty ? "error \(number)" : String(decoding: text, as: UTF8.self)
  }
}

/// Calls again where a signal came first. The result, or the errno: -1 is never a result.
func retrying<Result: SignedInteger>(_ call: () -> Result) -> (result: Result, errno: Int32) {
  while true {
    let result = call()
    if result != -1 { return (result, 0) }
    let number = errno
    if number != EINTR { return (result, number) }
  }
}
