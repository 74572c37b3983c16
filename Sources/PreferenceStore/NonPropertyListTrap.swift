internal import Preferences

/// Apple's interface has no other answer to a value that cannot be stored than an exception, which Swift has not: the program ends, with
/// the same text. Nothing has been stored. `UserDefaults.store(_:forKey:)` throws instead.
func orTrap<Value>(_ body: () throws(PreferenceError) -> Value) -> Value {
  do throws(PreferenceError) {
    return try body()
  } catch {
    let reason = error.code == .notAPropertyList ? error.detail : "\(error.code.name): \(error.detail)"
    fatalError("*** Terminating app due to uncaught exception 'NSInvalidArgumentException', reason: '\(reason)'")
  }
}
