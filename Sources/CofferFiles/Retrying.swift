public import Glibc

/// Calls again where a signal came first. The result, or the errno: -1 is never a result.
@inlinable package func retrying<Result: SignedInteger>(_ call: () -> Result) -> (result: Result, errno: Int32) {
  while true {
    let result = call()
    if result != -1 { return (result, 0) }
    let number = errno
    if number != EINTR { return (result, number) }
  }
}
