import Glibc

/// What the system said about the last call that failed.
struct SystemError: Error {
  let number: Int32

  /// Right after the call.
  static var last: SystemError { SystemError(number: errno) }

  var text: String {
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
  }

  /// `what` names a file or a stream.
  func failure(_ what: String, hint: String? = nil) -> Failure {
    Failure(.inputOutput, "\(what): \(text)", hint: hint)
  }
}
