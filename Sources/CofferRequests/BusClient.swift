/// The program for which `coffer-secrets` sends a request. The agent identifies the process itself.
package enum BusClient: Hashable, Sendable {
  /// - start: When the process began, so that another one that gets its number is not taken for it.
  case process(Int32, start: UInt64)
  /// The message bus does not tell, or a user could have forged it.
  case unknown
}
