internal import CofferFiles
internal import Glibc

/// The reason of the system for the last call that failed.
package struct SystemError: Error {
  package let number: Int32

  package init(number: Int32) { self.number = number }

  /// Right after the call.
  package static var last: SystemError { SystemError(number: errno) }

  package var text: String { ErrorNumber.text(of: number) }

  /// `what` names a file or a stream.
  package func failure(_ what: String, hint: String? = nil) -> Failure {
    Failure(number == ENOENT ? .notFound : .inputOutput, "\(what): \(text)", hint: hint)
  }
}
