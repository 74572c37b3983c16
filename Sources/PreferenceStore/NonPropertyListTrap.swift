internal import CofferPreferences

/// Apple's interface raises an Objective-C exception for a value that cannot be stored. Swift has no exceptions, so the process
/// ends with the same text, before anything is stored. `UserDefaults.store(_:forKey:)` throws instead.
func orTrap<Value>(_ body: () throws(PreferenceError) -> Value) -> Value {
  do throws(PreferenceError) {
    return try body()
  } catch {
    let reason = error.code == .notAPropertyList ? error.detail : "\(error.code.name): \(error.detail)"
    fatalError("*** Terminating app due to uncaught exception 'NSInvalidArgumentException', reason: '\(reason)'")
  }
}

extension PreferenceError.Code {
  /// Whether the value, or its key, is beyond a limit: `set` logs that.
  var isLimit: Bool { [.keyTooLong, .valueTooLarge, .valueTooDeep, .domainTooLarge].contains(self) }
}
