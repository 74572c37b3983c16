import PublicKeyBoxes
import SecretMemory
package import VaultCore

/// The message to a new device: where the log is, and the key. Section 8 of docs/sync-format.md.
package struct Welcome: Sendable {
  static let byteCount = 16 + 8 + 32 + 32 + 4 + 32

  package let space: Identifier
  package let count: UInt64
  package let chain: Digest
  /// HASH of the last entry of the members.
  let link: Digest
  let epoch: UInt32
  let key: LockedBytes

  func encoded() throws -> LockedBytes {
    var writer = BodyWriter()
    writer.append(space)
    writer.append(count)
    writer.append(chain)
    writer.append(link)
    writer.append(epoch)
    writer.append(key)
    return try writer.finish()
  }

  init(space: Identifier, count: UInt64, chain: Digest, link: Digest, epoch: UInt32, key: LockedBytes) {
    (self.space, self.count, self.chain, self.link, self.epoch, self.key) = (space, count, chain, link, epoch, key)
  }

  /// - Throws: `form`.
  init(parsing bytes: LockedBytes) throws {
    var reader = BodyReader(bytes)
    space = try reader.readIdentifier()
    count = try reader.readInteger()
    chain = try reader.readDigest()
    link = try reader.readDigest()
    epoch = try reader.readInteger()
    key = LockedBytes(try reader.readLocked(Key.byteCount))
    try reader.readEnd()
  }

  /// - Returns: nil for a replica without a key.
  package init?(_ replica: Replica) {
    guard let key = replica.keys[replica.epoch] else { return nil }
    (space, count, chain) = (replica.space, replica.count, replica.chain)
    (link, epoch, self.key) = (replica.membership.link, replica.epoch, key)
  }
}

/// The exchange by which a member adds a device. A person compares a number, and nothing is believed before.
package enum Enrolment {
  package enum Refusal: Error { case message, commitment, names, number }

  static let randomByteCount = 32
  /// The length in bytes of m2.
  package static let answerByteCount = 128

  /// The identifier under which the messages of a code lie in an engine.
  package static func mailbox(_ code: [UInt8]) -> Identifier {
    var context = Context("sync-mailbox")
    context.append(code)
    return context.tag
  }

  static func commitment(to message: [UInt8]) -> [UInt8] {
    var context = Context("sync-join")
    context.append(message)
    return context.digest.bytes
  }

  static func namesDigest(person: String, name: String, random: [UInt8]) -> [UInt8] {
    var context = Context("sync-names")
    context.append(text: person)
    context.append(text: name)
    context.append(random)
    return context.digest.bytes
  }

  static func number(_ m0: [UInt8], _ m1: [UInt8], _ m2: [UInt8]) -> UInt64 {
    var context = Context("sync-number")
    context.append(m0)
    context.append(m1)
    context.append(m2)
    return UInt64(littleEndian: context.digest.bytes, at: 0) % 100_000_000
  }

  /// The new device.
  package struct Joiner: Sendable {
    private let identity: DeviceIdentity
    private let namesRandom: [UInt8]
    private let m2: [UInt8]
    /// The first message: it names the second one, which is sent when the member has answered.
    package let commitment: [UInt8]
    private var m1: [UInt8]?

    /// - Parameter random: 64 random bytes.
    package init(_ identity: DeviceIdentity, random: [UInt8]) {
      precondition(random.count == 2 * randomByteCount)
      self.identity = identity
      namesRandom = Array(random.suffix(randomByteCount))
      m2 =
        identity.signing.publicKey + identity.box.publicKey + random.prefix(randomByteCount)
        + namesDigest(person: identity.person, name: identity.name, random: namesRandom)
      commitment = Enrolment.commitment(to: m2)
    }

    /// Answers the member's message.
    /// - Returns: m2, and the names for the member.
    /// - Throws: `message`.
    package mutating func answer(_ m1: [UInt8]) throws -> (m2: [UInt8], names: [UInt8]) {
      guard self.m1 == nil, m1.count == Adder.messageByteCount else { throw Refusal.message }
      var writer = BodyWriter()
      writer.append(namesRandom)
      writer.append(text: identity.person)
      writer.append(text: identity.name)
      guard let names = identity.box.seal(try writer.finish().secret, to: Array(m1[32..<64])) else { throw Refusal.message }
      self.m1 = m1
      return (m2, names)
    }

    /// The space that the member has named; nil before its message.
    package var space: Identifier? { m1.flatMap { Identifier(Array($0.suffix(Identifier.byteCount))) } }

    /// The number that this device shows; nil before the member's message.
    package var number: UInt64? { m1.map { Enrolment.number(commitment, $0, m2) } }

    /// - Throws: `message` for another sender, or another space than the member has named.
    package func open(_ m3: [UInt8]) throws -> Welcome {
      guard let m1, let bytes = try identity.box.open(m3, from: Array(m1[32..<64])) else { throw Refusal.message }
      let locked = LockedBytes(bytes)
      do {
        let welcome = try Welcome(parsing: locked)
        guard welcome.space.bytes == Array(m1.suffix(16)) else { throw Refusal.message }
        return welcome
      } catch is VoidCause {
        throw Refusal.message
      }
    }
  }

  /// The member.
  package struct Adder: Sendable {
    static let messageByteCount = 32 + 32 + randomByteCount + 16

    private let identity: DeviceIdentity
    private let m0: [UInt8]
    /// m1.
    package let message: [UInt8]
    private var joiner: (m2: [UInt8], record: DeviceRecord)?
    private var isOver = false

    /// - Parameters:
    ///   - commitment: m0.
    ///   - random: 32 random bytes.
    /// - Throws: `message`.
    package init(_ replica: Replica, commitment: [UInt8], random: [UInt8]) throws {
      precondition(random.count == randomByteCount)
      guard commitment.count == Digest.byteCount else { throw Refusal.message }
      identity = replica.identity
      m0 = commitment
      message = identity.signing.publicKey + identity.box.publicKey + random + replica.space.bytes
    }

    /// Takes the answer of the new device.
    /// - Returns: The person and the name, which are shown while the number is asked for.
    /// - Throws: `message`, `commitment`, `names`; then the exchange is over.
    package mutating func take(_ m2: [UInt8], names: [UInt8], role: Role) throws -> DeviceRecord {
      guard !isOver, joiner == nil, m2.count == answerByteCount else { throw Refusal.message }
      isOver = true
      guard Enrolment.commitment(to: m2) == m0 else { throw Refusal.commitment }
      guard let bytes = try identity.box.open(names, from: Array(m2[32..<64])) else { throw Refusal.names }
      var reader = BodyReader(LockedBytes(bytes))
      let record: DeviceRecord
      do {
        let random = try reader.read(randomByteCount)
        let person = try reader.readName(atMost: DeviceRecord.maximumNameByteCount)
        let name = try reader.readName(atMost: DeviceRecord.maximumNameByteCount)
        try reader.readEnd()
        guard namesDigest(person: person, name: name, random: random) == Array(m2.suffix(32)) else { throw Refusal.names }
        record = DeviceRecord(
          signingKey: Array(m2.prefix(32)), boxKey: Array(m2[32..<64]), role: role, person: person, name: name)
      } catch is VoidCause {
        throw Refusal.names
      }
      joiner = (m2, record)
      isOver = false
      return record
    }

    /// - Parameter number: The number that the person has typed. After a wrong one the exchange is over.
    /// - Returns: The record to add.
    /// - Throws: `number`, `message`.
    package mutating func confirm(_ number: UInt64) throws -> DeviceRecord {
      guard !isOver, let joiner else { throw Refusal.message }
      isOver = true
      guard number == Enrolment.number(m0, message, joiner.m2) else { throw Refusal.number }
      return joiner.record
    }

    /// m3, when the log has the new device.
    package func welcome(_ welcome: Welcome) throws -> [UInt8] {
      guard let joiner, let box = identity.box.seal(try welcome.encoded().secret, to: joiner.record.boxKey) else {
        throw Refusal.message
      }
      return box
    }
  }
}
