package import SecretMemory

/// The lines of a helper's answer, in locked memory.
package struct GitAnswer: ~Copyable {
  package private(set) var bytes: Secret

  /// - Throws: as `Secret(count:)`.
  package init() throws(VaultError) { bytes = try Secret(count: 0) }

  /// - Parameter value: A part of an item's name, or a number: neither has control characters.
  /// - Throws: as `Secret(count:)`.
  package mutating func add(_ key: GitMessage.Key, _ value: String) throws(VaultError) {
    try unsafe append(Array("\(key.rawValue)=\(value)\n".utf8).span.bytes)
  }

  /// - Throws: `secretNotLine`; as `Secret(count:)`.
  package mutating func add(_ key: GitMessage.Key, _ value: borrowing Secret) throws {
    let isLine = value.withBytes { bytes in
      (0..<bytes.byteCount).allSatisfy { offset in
        let byte = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
        return byte != 0 && byte != UInt8(ascii: "\n")
      }
    }
    guard isLine else { throw CredentialError(.secretNotLine) }
    try unsafe append(Array("\(key.rawValue)=".utf8).span.bytes)
    try value.withBytes { (bytes) throws(VaultError) in try append(bytes) }
    try unsafe append([UInt8(ascii: "\n")].span.bytes)
  }

  private mutating func append(_ more: RawSpan) throws(VaultError) {
    var longer = try Secret(count: bytes.count + more.byteCount)
    longer.write(bytes, at: 0)
    longer.write(more, at: bytes.count)
    bytes = longer
  }
}
