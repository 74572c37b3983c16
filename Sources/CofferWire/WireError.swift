/// A fault in the bytes of the other end. The connection is then closed, because the start of the next frame is unknown.
package struct WireError: Error, Equatable, Sendable {
  package struct Code: Hashable, Sendable {
    package let name: String
    private init(_ name: String) { self.name = name }

    /// A length that no frame has.
    package static let frameLength = Self("frameLength")
    /// Another version of this protocol.
    package static let version = Self("version")
    package static let operation = Self("operation")
    /// The parts do not fit the frame.
    package static let malformed = Self("malformed")
    /// A field is missing, of another type, or not meant here.
    package static let field = Self("field")
  }

  package let code: Code
  /// For the log. Not compared, and without any value.
  package let detail: String

  package init(_ code: Code, _ detail: String = "") {
    self.code = code
    self.detail = detail
  }

  package static func == (left: WireError, right: WireError) -> Bool { left.code == right.code }
}
