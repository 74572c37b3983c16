/// The name of one file in one directory: what has one cannot lead anywhere else. Bytes, because Linux asks for no encoding.
package struct FileName: Hashable, Sendable, CustomStringConvertible {
  package static let maximumByteCount = 255

  package let bytes: [UInt8]

  /// - Throws: `nameNotAllowed`: empty, `.`, `..`, with `/` or a zero byte, or too long.
  package init(bytes: [UInt8]) throws(FileError) {
    let isDots = bytes.count <= 2 && bytes.allSatisfy { $0 == UInt8(ascii: ".") }
    guard !isDots, bytes.count <= Self.maximumByteCount, !bytes.contains(UInt8(ascii: "/")), !bytes.contains(0) else {
      throw FileError(.nameNotAllowed, String(decoding: bytes.prefix(300), as: UTF8.self))
    }
    self.bytes = bytes
  }

  /// - Throws: `nameNotAllowed`.
  package init(_ text: String) throws(FileError) { try self.init(bytes: Array(text.utf8)) }

  /// A name that the program itself has written down.
  package init(constant text: StaticString) {
    bytes = unsafe Array(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  package var description: String { String(decoding: bytes, as: UTF8.self) }

  /// For the calls of the system: with a zero at its end.
  package var terminated: [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }

  /// `.NAME.SUFFIX`: what belongs to a directory and lies beside it. No app and no group begins with a dot.
  package func beside(_ suffix: String) throws(FileError) -> FileName {
    try FileName(bytes: [UInt8(ascii: ".")] + bytes + [UInt8(ascii: ".")] + Array(suffix.utf8))
  }
}

/// A way down from a directory: names, without `.` and `..`.
package struct RelativePath: Hashable, Sendable, CustomStringConvertible {
  package let names: [FileName]

  /// - Throws: `nameNotAllowed`: absolute, empty, or with a part that is no name.
  package init(_ text: String) throws(FileError) {
    try self.init(bytes: Array(text.utf8)[...])
  }

  /// - Throws: `nameNotAllowed`.
  package init(bytes: ArraySlice<UInt8>) throws(FileError) {
    var names: [FileName] = []
    for part in bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      names.append(try FileName(bytes: Array(part)))
    }
    guard !names.isEmpty else { throw FileError(.nameNotAllowed, "an empty path") }
    self.names = names
  }

  package init(names: [FileName]) { self.names = names }

  package var description: String { names.map(\.description).joined(separator: "/") }
}
