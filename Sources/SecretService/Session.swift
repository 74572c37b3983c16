import MessageBus
import SecretMemory

/// The session of a client: how secrets go over the bus.
final class Session: Sendable {
  let sender: String
  /// nil: as they are.
  private let key: Secret?

  static let plain = "plain"
  static let encrypted = "dh-ietf1024-sha256-aes128-cbc-pkcs7"

  private init(_ sender: String, _ key: consuming Secret?) {
    self.sender = sender
    self.key = key
  }

  /// - Returns: Also the output of OpenSession.
  /// - Throws: `BusError`: `notSupported` alone makes clients try another algorithm.
  static func open(_ algorithm: String, _ input: Value, for sender: String) throws -> (Session, output: Value) {
    switch (algorithm, input) {
    case (plain, .text): return (Session(sender, nil), .text(""))
    case (encrypted, .bytes(let peer)):
      let side = try KeyAgreement.Side()
      let key = try side.key(with: peer.secret)
      return (Session(sender, key), .bytes(Value.Bytes(try side.publicNumber.duplicate())))
    case (plain, _), (encrypted, _): throw BusError.invalidArguments("the input of the algorithm has another type")
    default: throw BusError.notSupported("the algorithm is not known")
    }
  }

  /// The side of a client.
  /// - Parameter key: nil: secrets go as they are.
  convenience init(withKey key: consuming Secret?) { self.init("", key) }

  /// The structure Secret of the interface.
  func wrap(_ secret: consuming Secret, contentType: String, path: String) throws -> Value {
    let (parameters, value) = try encrypted(secret)
    return .structure([.path(path), .bytes(parameters), .bytes(value), .text(contentType)])
  }

  private func encrypted(_ secret: consuming Secret) throws -> (Value.Bytes, Value.Bytes) {
    switch key {
    case .none: return (Value.Bytes(try Secret(count: 0)), Value.Bytes(secret))
    case .some(let key):
      let block = Gcrypt.blockByteCount
      let padding = block - secret.count % block
      var text = try Secret(count: secret.count + padding)
      text.withMutableBytes { out in
        unsafe out.withUnsafeMutableBytes { out in
          secret.withBytes { span in
            unsafe span.withUnsafeBytes {
              if $0.count > 0 { unsafe out.baseAddress!.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
            }
          }
          for index in secret.count..<out.count { unsafe out[index] = UInt8(padding) }
        }
      }
      let vector = try Secret.random(count: block)
      try Gcrypt.crypt(&text, key: key, start: vector, encrypts: true)
      return (Value.Bytes(vector), Value.Bytes(text))
    }
  }

  /// - Throws: `BusError`: `invalidArguments`.
  func unwrap(_ parameters: Value.Bytes, _ value: Value.Bytes) throws -> Secret {
    switch key {
    case .none: return try value.secret.duplicate()
    case .some(let key):
      let (block, count) = (Gcrypt.blockByteCount, value.secret.count)
      guard parameters.secret.count == block else { throw BusError.invalidArguments("the parameters of the secret") }
      guard count > 0, count % block == 0 else { throw BusError.invalidArguments("the length of the encrypted secret") }
      var text = try value.secret.duplicate()
      try Gcrypt.crypt(&text, key: key, start: parameters.secret, encrypts: false)
      let padding = text.withBytes { span in
        let padding = Int(span.byte(at: count - 1))
        guard (1...block).contains(padding) else { return 0 }
        return (count - padding..<count).allSatisfy { Int(span.byte(at: $0)) == padding } ? padding : 0
      }
      guard padding > 0 else { throw BusError.invalidArguments("the padding of the encrypted secret") }
      text.truncate(to: count - padding)
      return text
    }
  }
}

extension RawSpan {
  fileprivate func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
