/// A file of variables, `NAME=value` in each line, as many tools read it. Nothing in it is expanded, so each value arrives byte for byte.
package struct EnvironmentFile: Sendable {
  package struct Assignment: Sendable {
    package let name: String
    package let value: SecretText
    /// Where the name begins, in bytes.
    package let offset: Int
  }

  package private(set) var assignments: [Assignment] = []

  package init(_ bytes: [UInt8]) throws(TextError) {
    if let zero = bytes.firstIndex(of: 0) { throw TextError(.zeroByte, at: zero) }
    var reader = AssignmentReader(bytes)
    while let found = try reader.next() {
      var value: [UInt8] = []
      found.forEachByte(of: bytes) { value.append($0) }
      do {
        assignments.append(Assignment(name: found.name, value: try SecretText(value: value), offset: found.offset))
      } catch {
        // A place within the value is none in the file, because of escapes and quotes.
        throw TextError(error.code, at: found.offset, error.detail)
      }
    }
  }
}

package enum VariableName {
  /// As a shell takes it.
  package static func isIdentifier(_ name: String) -> Bool {
    let bytes = name.utf8
    guard let first = bytes.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
    return bytes.allSatisfy(isPart)
  }

  package static func isPart(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
