internal import CofferPropertyLists

/// The conversion of one type from and to its stored value, as closures, so that a generic type needs no constraint.
struct StoredForm<Value>: Sendable {
  /// Returns nil if the stored value has another type.
  let read: @Sendable (PropertyListValue) -> Value?
  let readArgument: @Sendable (PropertyListValue) -> Value?
  /// Returns nil if the value is stored by removing the key.
  let store: @Sendable (Value) throws -> PropertyListValue?
}

extension StoredForm where Value: Storable {
  static var storable: StoredForm {
    StoredForm(
      read: { Value(storedValue: $0) }, readArgument: { Value(argumentValue: $0) }, store: { try $0.storedValue() })
  }
}

extension StoredForm where Value: RawRepresentable & SendableMetatype, Value.RawValue: Storable {
  static var rawValue: StoredForm {
    StoredForm(
      read: { Value.RawValue(storedValue: $0).flatMap { Value(rawValue: $0) } },
      readArgument: { Value.RawValue(argumentValue: $0).flatMap { Value(rawValue: $0) } },
      store: { try $0.rawValue.storedValue() })
  }
}

extension StoredForm {
  /// nil is stored by removing the key; a missing key is read as nil.
  static func optional<Wrapped>(_ form: StoredForm<Wrapped>) -> StoredForm where Value == Wrapped? {
    StoredForm(
      read: { form.read($0).map { .some($0) } }, readArgument: { form.readArgument($0).map { .some($0) } },
      store: { try $0.flatMap(form.store) })
  }
}
