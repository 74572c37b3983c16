/// The reason why bytes are not a property list, or a value cannot be written as one.
public struct PropertyListError: Error, Equatable, Sendable {
  /// The cause of an error.
  @nonexhaustive
  public enum Code: String, CaseIterable, Sendable {
    /// Neither XML, binary nor old style.
    case notAPropertyList
    /// The format was recognised, but the content violates it.
    case malformed
    /// More levels of arrays and dictionaries than `PropertyList.maximumDepth`.
    case tooDeep
    /// More bytes or values than `PropertyList.maximumByteCount` and `maximumValueCount`.
    case tooLarge
    /// A container of a binary property list that contains itself.
    case cyclic
    /// The format cannot represent the value; for example, XML cannot represent a control character.
    case notRepresentable

    /// The name of the cause, for messages and logs.
    public var name: String { rawValue }
  }

  /// The cause.
  public let code: Code
  /// The place or the value concerned. Not compared.
  public let detail: String

  /// An error with a cause, and details for people.
  public init(_ code: Code, _ detail: String = "") {
    self.code = code
    self.detail = detail
  }

  public static func == (left: PropertyListError, right: PropertyListError) -> Bool { left.code == right.code }
}
