package import CofferFiles
package import CofferSync
import Glibc
package import VaultCore

/// The exchange of messages by which a member adds a device: four entries of a log of its own. Section 8 of docs/sync-format.md.
package struct Exchange {
  /// Without vowels, so that no word comes of them.
  private static let letters = Array("bcdfghjklmnpqrstvwxz".utf8)
  package static let codeCount = 8
  private static let pause: UInt32 = 200_000
  /// The last message of a member that adds nothing.
  private static let end: [UInt8] = [0]

  private let engine: any Engine
  private let deadline: Deadline
  private let check: () throws -> Void

  /// - Parameters:
  ///   - engine: The mailbox.
  ///   - deadline: Until when the other device is waited for.
  ///   - check: Called while it is waited for; an error ends the exchange.
  package init(_ engine: any Engine, until deadline: Deadline, check: @escaping () throws -> Void = {}) {
    (self.engine, self.deadline, self.check) = (engine, deadline, check)
  }

  /// A new code, as in `bcdf-ghjk`.
  package static func code() -> String {
    var generator = SystemRandomNumberGenerator()
    let chosen = (0..<codeCount).map { _ in letters[Int.random(in: 0..<letters.count, using: &generator)] }
    return String(decoding: chosen.prefix(4) + [UInt8(ascii: "-")] + chosen.suffix(4), as: UTF8.self)
  }

  /// Where the messages under a code lie.
  /// - Returns: nil for another form of code.
  package static func mailbox(_ code: String) -> Identifier? {
    let typed = Array(code.lowercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ") })
    guard typed.count == codeCount, typed.allSatisfy(letters.contains) else { return nil }
    return Enrolment.mailbox(typed)
  }

  private func post(_ number: UInt64, _ message: [UInt8]) throws {
    switch try engine.append(number, message) {
    case .made: break
    case .taken: throw SyncError(.codeTaken)
    case .shorter: throw SyncError(.joinEnded)
    }
  }

  private func message(_ number: UInt64) throws -> [UInt8] {
    while true {
      if let entry = try engine.read(from: number, limit: 1).first, entry.number == number { return entry.bytes }
      try check()
      guard !deadline.hasPassed else { throw SyncError(.noAnswer) }
      usleep(Self.pause)
    }
  }

  /// The mailbox goes with the new device that ends. A device that does not read the welcome must not be added.
  private func checkIsOpen() throws {
    try check()
    let entries = try engine.read(from: 2, limit: 2)
    guard entries.first?.number == 2 else { throw SyncError(.joinEnded) }
    guard entries.count == 1 else { throw SyncError(.codeTaken) }
  }

  private func checked<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let refusal as Enrolment.Refusal {
      throw SyncError(refusal == .number ? .wrongNumber : .exchangeRefused)
    }
  }

  /// The new device.
  /// - Parameters:
  ///   - identity: Its keys.
  ///   - posted: Called when a member can answer.
  ///   - accept: Called with the space that the member has named, before the member learns of this device.
  ///   - show: Called with the number of 8 digits that the person types at the member.
  /// - Returns: Where the log is.
  /// - Throws: `codeTaken`, `joinEnded`, `noAnswer`, `exchangeRefused`, `exchangeEnded`; what the closures throw; errors of the engine.
  package func join(
    _ identity: DeviceIdentity, posted: () throws -> Void, accept: (Identifier) throws -> Void = { _ in },
    show: (UInt64) throws -> Void
  ) throws -> Welcome {
    var joiner = Enrolment.Joiner(identity, random: SecretBox.randomBytes(64))
    try post(0, joiner.commitment)
    try posted()
    let member = try message(1)
    let answer = try checked { try joiner.answer(member) }
    if let space = joiner.space { try accept(space) }
    try post(2, answer.m2 + answer.names)
    if let number = joiner.number { try show(number) }
    let welcome = try message(3)
    guard welcome != Self.end else { throw SyncError(.exchangeEnded) }
    return try checked { try joiner.open(welcome) }
  }

  /// The member.
  /// - Parameters:
  ///   - replica: The replica of the member.
  ///   - role: The role of the new device.
  ///   - ask: Returns the number that the person has typed.
  ///   - add: Appends the device to the log.
  /// - Throws: `codeTaken`, `joinEnded`, `noAnswer`, `exchangeRefused`, `wrongNumber`; what the closures throw; errors of the engine.
  package func add(
    _ replica: Replica, as role: Role, ask: (DeviceRecord) throws -> UInt64, add: (DeviceRecord) throws -> Welcome
  ) throws {
    let commitment = try message(0)
    var adder = try checked { try Enrolment.Adder(replica, commitment: commitment, random: SecretBox.randomBytes(32)) }
    try post(1, adder.message)
    do {
      try post(3, answer(&adder, role, ask, add))
    } catch {
      // The other device waits for a message.
      _ = try? engine.append(3, Self.end)
      throw error
    }
  }

  private func answer(
    _ adder: inout Enrolment.Adder, _ role: Role, _ ask: (DeviceRecord) throws -> UInt64,
    _ add: (DeviceRecord) throws -> Welcome
  ) throws -> [UInt8] {
    let answer = try message(2)
    let record = try checked {
      try adder.take(
        Array(answer.prefix(Enrolment.answerByteCount)), names: Array(answer.dropFirst(Enrolment.answerByteCount)), role: role)
    }
    let number = try ask(record)
    let confirmed = try checked { try adder.confirm(number) }
    try checkIsOpen()
    let welcome = try add(confirmed)
    return try checked { try adder.welcome(welcome) }
  }
}
