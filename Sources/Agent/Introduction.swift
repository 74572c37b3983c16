/// Which program speaks on a connection.
///
/// The kernel says which process has sent a request, not which program it ran then: a program could ask for what is another's, become
/// that other one at once, and leave the answer to a child that holds the same connection. So a request has a program's rights only if
/// the process ran that program already when nothing of the request had arrived: then it is the program that has sent it. For one thread.
final class Introduction {
  private var program: ProgramIdentity?

  /// - Parameters:
  ///   - found: What the process runs now.
  ///   - isQuiet: Whether nothing more has arrived; looked at after that.
  /// - Returns: Whether the request that has arrived is this program's. Where it is not, the next one may be.
  func covers(_ found: ProgramIdentity, isQuiet: () -> Bool) -> Bool {
    if program == found { return true }
    program = isQuiet() ? found : nil
    return false
  }
}
