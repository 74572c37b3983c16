internal import Glibc

/// An open file descriptor and its one owner, which closes it once.
///
/// The kernel gives the number of a descriptor that was closed to the next thread that opens something: a second `close` closes
/// what belongs to that thread. So the number is passed on by moving this value, and no other code closes it.
package struct OwnedDescriptor: ~Copyable, Sendable {
  package let number: Int32

  /// - Parameter number: The result of the call that opens it.
  /// - Returns: nil if the number is negative: the call has failed, and `errno` holds the reason.
  package init?(_ number: Int32) {
    guard number >= 0 else { return nil }
    self.number = number
  }

  /// Gives the descriptor to another owner, which closes it.
  package consuming func release() -> Int32 {
    let number = number
    discard self
    return number
  }

  /// `errno` stays as it is: it may hold the reason why the descriptor is of no use.
  deinit {
    let reason = errno
    _ = close(number)
    errno = reason
  }
}
