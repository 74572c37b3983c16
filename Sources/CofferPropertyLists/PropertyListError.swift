/// The reason why bytes are not a property list, or a value cannot be written as one.
public struct PropertyListError: Error, Equatable, Sendable {
  /// The cause of an error.
  public struct Code: Hashable, Sendable {
    /// The name of the cause, for messages and logs.
    public let name: String
    init(_ name: String) { self.name = name }

    /// Neither XML, binary nor old style.
    public static let notAPropertyList = Self("notAPropertyList")
    /// The format was recognised, but the content violates it.
    public static let malformed = Self("malformed")
    /// More levels of arrays and dictionaries than `PropertyList.maximumDepth`.
    public static let tooDeep = Self("tooDeep")
    /// More bytes or values than `PropertyList.maximumByteCount` and `maximumValueCount`.
    public static let tooLarge = Self("tooLarge")
    /// A container of a binary property list that contains itself.
    public static let cyclic = Self("cyclic")
    /// The format cannot represent the value; for example, XML cannot represent a control character.
    public static let notRepresentable = Self("notRepresentable")
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
