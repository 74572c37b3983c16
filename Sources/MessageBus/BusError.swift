/// An error as it is sent over the bus.
package struct BusError: Error, Equatable, Sendable {
  package let name: String
  package let text: String

  package init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }

  private static let prefix = "org.freedesktop.DBus.Error."

  package static func invalidArguments(_ text: String) -> BusError { BusError(prefix + "InvalidArgs", text) }
  package static func notSupported(_ text: String) -> BusError { BusError(prefix + "NotSupported", text) }
  package static func limitsExceeded(_ text: String) -> BusError { BusError(prefix + "LimitsExceeded", text) }
  package static func failed(_ text: String) -> BusError { BusError(prefix + "Failed", text) }
  package static func accessDenied(_ text: String) -> BusError { BusError(prefix + "AccessDenied", text) }
  package static func unknownMethod(_ text: String) -> BusError { BusError(prefix + "UnknownMethod", text) }
  package static func unknownProperty(_ text: String) -> BusError { BusError(prefix + "UnknownProperty", text) }
  package static func readOnly(_ text: String) -> BusError { BusError(prefix + "PropertyReadOnly", text) }
}
