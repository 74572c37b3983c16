internal import PropertyLists

/// How the values of one type are read and stored. What a generic type needs no constraint for.
struct StoredForm<Value>: Sendable {
  /// Nil where the stored value is of another type.
  let read: @Sendable (PropertyListValue) -> Value?
  let readArgument: @Sendable (PropertyListValue) -> Value?
  /// Nil for what is stored by removing the key.
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
  /// Nil is stored by removing the key, and a missing key read as nil.
  static func optional<Wrapped>(_ form: StoredForm<Wrapped>) -> StoredForm where Value == Wrapped? {
    StoredForm(
      read: { form.read($0).map { .some($0) } }, readArgument: { form.readArgument($0).map { .some($0) } },
      store: { try $0.flatMap(form.store) })
  }
}
