import ArgumentParser
import CofferConsole
import CofferSync
import SecretMemory
import SyncEngines
import VaultCore
import VaultSync

struct SyncRecoveryKey: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recovery-key", abstract: "Print a key with which a new machine joins when all others are lost.",
    discussion: """
      Prints the space and the key, for paper. It is a device of the space with the role of this one: coffer sync members lists it, \
      and coffer sync remove ends it. Then, on a new machine: coffer sync join ENGINE --recovery-key --space ID.
      """)

  private static let name = "recovery key"

  @OptionGroup var space: SpaceOptions

  func run() throws {
    let session = try space.session()
    _ = try session.finish()
    guard let own = session.state.replica.membership[session.state.replica.id], own.role <= .member else {
      throw SyncError(.notAllowed)
    }
    let text = try RecoveryKey.random(label: DeviceIdentity.recoveryLabel)
    let record = try DeviceIdentity(
      recovery: RecoveryKey.parse(text, label: DeviceIdentity.recoveryLabel), space: session.keys.space, person: own.person,
      name: Self.name
    ).record(own.role, isRecovery: true)
    // Before the log has it: a key that was lost on a full disk would be a device without an owner.
    try Self.print(session.keys.space, text)
    do {
      try session.add(record)
      _ = try session.finish()
      guard session.state.replica.membership[record.id] != nil else { throw session.refusal([record.id]) }
    } catch {
      Descriptor.error.note("note: the key that was printed opens nothing until coffer sync now has sent it\n")
      throw error
    }
  }

  private static func print(_ space: Identifier, _ text: borrowing Secret) throws {
    if Descriptor.output.isTerminal {
      Descriptor.error.note("Write both down and keep them elsewhere; the key is not shown again:\n")
    }
    try Descriptor.output.write("space \(space)\nkey   ")
    try text.withBytes { try Descriptor.output.write($0) }
    try Descriptor.output.write("\n")
    try Descriptor.output.synchronize()
  }
}

/// The device that a recovery key is, for as long as it adds another one.
struct RecoveringDevice {
  private static let limit = 256
  /// Before the key in the line that was printed.
  private static let word = Array("key ".utf8)

  private let space: Identifier
  private let engine: any Engine
  private let identity: DeviceIdentity

  /// Asks for the key.
  init(_ space: String, _ address: EngineAddress) throws {
    guard let space = Identifier(hexadecimal: space.lowercased()) else {
      throw Failure.usage("--space \(space): is not an identifier of 32 digits", hint: "it was printed with the recovery key")
    }
    self.space = space
    try DeviceKeys.checkIsNew(space, in: OpenSpace.keychain())
    do {
      engine = try OpenSpace.connect(address, space)
    } catch {
      guard error.lacks(space) else { throw error }
      throw Failure(.notFound, "\(address): the engine has no space \(space)", hint: "it was printed with the recovery key")
    }
    let text = try Self.ask()
    do {
      identity = try DeviceIdentity(
        recovery: RecoveryKey.parse(text, label: DeviceIdentity.recoveryLabel), space: space, person: "", name: "")
    } catch VaultError.Code.recoveryKeyMalformed {
      throw SyncError(.recoveryKeyMalformed)
    }
  }

  private static func ask() throws -> Secret {
    let terminal = Descriptor.input.isTerminal ? HiddenTerminal.hide() : nil
    if terminal != nil { Descriptor.error.note("Recovery key of the space: ") }
    defer { if terminal != nil { Descriptor.error.note("\n") } }
    var text = try Secret(count: limit)
    var (count, byte): (Int, UInt8) = (0, 0)
    while count < limit, try unsafe withUnsafeMutableBytes(of: &byte, { try unsafe Descriptor.input.read(into: $0) }) == 1,
      byte != 10
    {
      text.write(byte, at: count)
      count += 1
      if count == word.count, (0..<count).allSatisfy({ text.byte(at: $0) == word[$0] }) { count = 0 }
    }
    guard count > 0 else { throw Failure(.cancelled, "no recovery key was typed: this vault has not joined") }
    text.truncate(to: count)
    return text
  }

  /// Adds the new device with the role that the key has.
  func admit(_ new: DeviceIdentity) throws -> Replica {
    var replica: Replica
    do {
      replica = try Replica(recovering: identity, space: space, engine, ValueKey())
    } catch Halt.removed, Halt.notAMember {
      throw SyncError(.recoveryKeyUnknown)
    }
    guard let own = replica.membership[replica.id] else { throw Halt.notAMember }
    replica.add(new.record(own.role))
    try replica.synchronise(with: engine) { _ in }
    guard replica.membership[new.id] != nil, let welcome = Welcome(replica) else {
      throw SyncError(
        .notAllowed, own.role == .reader ? "the key is a reader" : "the key adds devices of \(own.person) alone: --person")
    }
    return try Replica(joining: new, welcome, engine, ValueKey())
  }
}
