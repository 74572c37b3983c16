/// How the program ends. The numbers are part of the interface and never change their meaning.
package enum ExitStatus: Int32, CaseIterable, Sendable {
  case ok = 0
  case other = 1
  case usage = 2
  case notFound = 3
  case duplicate = 4
  /// Locked, or a person is needed and there is none.
  case locked = 5
  case denied = 6
  case wrongPassphrase = 7
  case cancelled = 8
  /// The content of the vault is not as a genuine writer left it.
  case integrity = 9
  case noVault = 10
  case severalMatch = 11
  /// Reading or writing failed, no room, or another process holds the vault.
  case inputOutput = 12
}
