/// Composes and divides secrets inside locked memory. Offsets outside of the secret
/// are programmer errors.
extension Secret {
  package borrowing func byte(at offset: Int) -> UInt8 {
    precondition(offset >= 0 && offset < count)
    return unsafe withPointer { unsafe $0[offset] }
  }

  package mutating func write(_ byte: UInt8, at offset: Int) {
    precondition(offset >= 0 && offset < count)
    unsafe withMutablePointer { unsafe $0[offset] = byte }
  }

  package mutating func write(_ bytes: RawSpan, at offset: Int) {
    precondition(offset >= 0 && offset + bytes.byteCount <= count)
    unsafe withMutablePointer { destination in
      unsafe bytes.withPointer { source in unsafe (destination + offset).update(from: source, count: bytes.byteCount) }
    }
  }

  package mutating func write(_ bytes: [UInt8], at offset: Int) { unsafe write(bytes.span.bytes, at: offset) }

  package mutating func write(_ other: borrowing Secret, at offset: Int) { other.withBytes { write($0, at: offset) } }

  /// A copy of `length` bytes from `offset` on.
  package borrowing func copy(_ offset: Int, _ length: Int) throws(VaultError) -> Secret {
    precondition(offset >= 0 && length >= 0 && offset + length <= count)
    return try withBytes { (bytes) throws(VaultError) in
      try Secret(copying: bytes.extracting(offset..<offset + length))
    }
  }
}

extension Secret {
  /// A copy of bytes that were never secret, such as attributes, for calls that take a secret.
  package init(copying bytes: [UInt8]) throws(VaultError) {
    self = try unsafe Secret(copying: bytes.span.bytes)
  }
}
