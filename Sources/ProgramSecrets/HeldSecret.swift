package import SecretMemory

/// A secret in a place where a noncopyable value cannot be: in a list, or under a name.
package final class HeldSecret: Sendable, TextBytes {
  package let secret: Secret

  package init(_ secret: consuming Secret) { self.secret = secret }

  package var count: Int { secret.count }
  package subscript(offset: Int) -> UInt8 { secret.withBytes { $0.byte(at: offset) } }
}

extension RawSpan {
  package func byte(at offset: Int) -> UInt8 {
    unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }
}
