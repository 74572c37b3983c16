package import CofferConsole

/// The vault, as `doctor --move` needs it. The program gives it, so that this module does not depend on the vault.
package protocol SecretDestination {
  /// Whether the moves are printed as JSON.
  var isJSON: Bool { get }

  /// The text that takes the place of a value.
  /// - Throws: usage, if no item can have this name.
  func reference(service: String, account: String) throws(Failure) -> String

  /// Stores all values or none, and returns when they are on the disk. A value that the vault has already is not stored a second time.
  /// - Throws: `duplicate`, if the vault has another secret of one of the names.
  func store(_ candidates: [MoveCandidate]) throws
}

/// The vault could not be opened or written. The exit status is then that of the commands of the vault, for which `defaults` of macOS has
/// no numbers; only wrong arguments keep the number that they have there.
package struct VaultSideFailure: Error {
  let reason: Failure

  var status: Int32 { reason.status == .usage ? DefaultsFailure.Status.usage.rawValue : reason.status.rawValue }

  package init(_ error: any Error) { reason = Failure(error) }

  /// Runs `body`, whose errors are those of the vault.
  package static func catching<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      throw VaultSideFailure(error)
    }
  }
}
