package import SecretMemory
package import VaultCore

/// The name of an object: HASH of its bytes.
package struct ObjectName: Hashable, Comparable, Sendable {
  /// The most names of one page of an engine.
  package static let pageCount = 10_000

  package let digest: Digest

  package init(digest: Digest) { self.digest = digest }

  package init(of object: [UInt8]) { digest = Digest(Digest.hash(object, byteCount: Digest.byteCount)) ?? .zero }

  /// - Returns: nil unless there are 64 digits, the lower ones of hexadecimal numbers.
  package init?(hexadecimal text: String) {
    let digits = Array(text.utf8)
    let bytes = stride(from: 0, to: digits.count - 1, by: 2)
      .compactMap { UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16) }
    guard let digest = Digest(bytes) else { return nil }
    self.init(digest: digest)
    // A number may have a sign.
    guard hexadecimal == text else { return nil }
  }

  /// 64 digits, as an engine names it.
  package var hexadecimal: String {
    digest.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  package static func == (left: ObjectName, right: ObjectName) -> Bool { left.digest == right.digest }
  package func hash(into hasher: inout Hasher) { hasher.combine(digest.bytes) }

  package static func < (left: ObjectName, right: ObjectName) -> Bool {
    left.digest.bytes.lexicographicallyPrecedes(right.digest.bytes)
  }
}

/// The value of a register.
package enum Value: Equatable, Sendable {
  case clear([UInt8])
  case secret(SealedSecret)
  /// A value that lies in an object of the engine, with the length of the value. The value of a setting lies there without its name,
  /// which the fold needs and which is never read from an object.
  case object(ObjectName, count: Int, of: SettingName? = nil)

  /// In bytes. A longer value is an object.
  package static let maximumInlineCount = 65_536
  static let objectBit: UInt32 = 1 << 31

  package var count: Int {
    switch self {
    case .clear(let bytes): bytes.count
    case .secret(let secret): secret.count
    case .object(_, let count, _): count
    }
  }

  package var object: ObjectName? { if case .object(let name, _, _) = self { name } else { nil } }

  /// The length of what `write` writes.
  var byteCount: Int {
    switch self {
    case .clear, .secret: 4 + count
    case .object(_, _, let setting): 4 + Digest.byteCount + (setting?.bytes.count ?? 0)
    }
  }

  func write(to writer: inout BodyWriter, _ values: ValueKey) throws {
    switch self {
    case .clear(let bytes):
      writer.append(UInt32(bytes.count))
      writer.append(bytes)
    case .secret(let secret):
      writer.append(UInt32(secret.count))
      writer.append(try values.open(secret))
    case .object(let name, let count, let setting):
      writer.append(UInt32(count) | Self.objectBit)
      writer.append(name.digest)
      if let setting { writer.append(setting.bytes) }
    }
  }

  /// - Throws: `form`.
  init(reading reader: inout BodyReader, of register: Register, _ kind: Kind, _ values: ValueKey) throws {
    let word: UInt32 = try reader.readInteger()
    let count = Int(word & ~Self.objectBit)
    if word & Self.objectBit != 0 {
      let maximum = register == .content && kind == .item ? ItemContent.maximumByteCount : Padding.maximumCount
      let name = ObjectName(digest: try reader.readDigest())
      let setting = kind == .setting && register == .content ? try SettingName { try reader.read($0) } : nil
      guard register != .life, count + (setting?.bytes.count ?? 0) > Self.maximumInlineCount, count <= maximum else {
        throw VoidCause.form
      }
      self = .object(name, count: count, of: setting)
    } else {
      guard count <= Self.maximumInlineCount else { throw VoidCause.form }
      if register == .secret {
        self = .secret(try values.seal(try reader.readLocked(count)))
      } else {
        self = .clear(try reader.read(count))
      }
    }
  }
}

extension Value {
  /// The name of a setting in its register 1.
  /// - Returns: nil for a value that no register 1 of a setting has.
  /// - Throws: `form`.
  package var settingName: SettingName? {
    get throws {
      switch self {
      case .clear(let content): try SettingContent(parsing: content).name
      case .object(_, _, let name): name
      case .secret: nil
      }
    }
  }

  /// The length of the value of a setting in its register 1, without the name.
  package var settingByteCount: Int {
    if case .clear = self { count - ((try? settingName)?.bytes.count ?? 0) } else { count }
  }
}

/// A secret that a state holds: sealed, because a state may hold more of them than memory can be locked.
package struct SealedSecret: Equatable, Sendable {
  let box: [UInt8]
  package let count: Int
  /// Keyed, so that equal secrets are recognised and none can be guessed.
  private let digest: Digest

  fileprivate init(box: [UInt8], count: Int, digest: Digest) { (self.box, self.count, self.digest) = (box, count, digest) }

  package static func == (left: SealedSecret, right: SealedSecret) -> Bool { left.digest == right.digest }
}

/// The key under which the secrets of one state are sealed in memory. The caller keeps it as long as the state.
package final class ValueKey: Sendable {
  private let seal: Key
  private let compare: Key

  package init() throws {
    seal = try .random()
    compare = try .random()
  }

  package func seal(_ secret: borrowing Secret) throws -> SealedSecret {
    let digest = try compare.secret.withBytes { (key) throws(VaultError) in
      try secret.withBytes { (bytes) throws(VaultError) in try Key.hash(bytes, key: key) }
    }
    return SealedSecret(
      box: try SecretBox.seal(secret, key: seal), count: secret.count,
      digest: Digest(digest.secret.copyIntoUnprotectedBytes()) ?? .zero)
  }

  package func open(_ secret: SealedSecret) throws -> Secret { try SecretBox.open(secret.box, key: seal) }
}
