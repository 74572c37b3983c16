import ArgumentParser
import Coffer
import CofferConsole
import CofferFiles
import CofferSync
import Glibc
import SyncEngines
import VaultCore
import VaultSync

/// A device that is made: where the log of its space lies, and the person and the name that others see.
struct NewDeviceOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("dir:/PATH, ssh:HOST:/PATH or etcd:HOST:PORT.", valueName: "engine"))
  var engine: String

  @Option(help: ArgumentHelp("The person who has this machine; the user, if it is left out.", valueName: "name"))
  var person: String?

  @Option(help: ArgumentHelp("The name of this machine; its host name, if it is left out.", valueName: "name"))
  var device: String?

  @Flag(help: "The space is yours alone: it shares the group default, and settings.")
  var personal = false

  /// New keys, with the files and the item of the vault.
  /// - Parameters:
  ///   - body: Founds or joins the space.
  ///   - groups: Which ones the device shares from the first pass on.
  /// - Returns: The space, open.
  func make(
    _ body: (DeviceIdentity, EngineAddress) throws -> Replica,
    sharing groups: (Replica, Keychain) throws -> Set<AccessGroup> = { _, _ in [] }
  ) throws -> SpaceSession {
    let address = try OpenSpace.address(engine)
    let (person, name) = (try checked(person ?? Self.user(), "--person"), try checked(device ?? Self.host(), "--device"))
    let keychain = try OpenSpace.keychain()
    // Before the vault has keys: one of the spaces of a vault is the personal one.
    let others = try personal ? OpenSpace.states(in: keychain) : []
    if let other = others.first(where: \.settings.isPersonal) {
      throw SyncError(.personalElsewhere, other.replica.space.description)
    }
    guard !others.contains(where: { $0.groups.contains(.standard) }) else {
      throw SyncError(.groupInOtherSpace, AccessGroup.standard.name)
    }
    do {
      let new = try DeviceKeys.make(in: keychain, files: OpenSpace.directory(), person: person, name: name) { identity in
        let replica = try body(identity, address)
        let groups = try groups(replica, keychain).union(personal ? [.standard] : [])
        return try LocalState(replica, engine: address.description, groups: groups, isPersonal: personal)
      }
      return OpenSpace.describing(try SpaceSession(new, in: keychain))
    } catch var failure as EngineFailure {
      failure.purpose = .becomeDevice
      throw failure
    }
  }

  private func checked(_ name: String, _ option: String) throws -> String {
    guard (1...DeviceRecord.maximumNameByteCount).contains(name.utf8.count),
      !name.unicodeScalars.contains(where: \.isControl)
    else { throw Failure.usage("\(option): a name has 1 to 255 bytes and no control character") }
    return name
  }

  private static func user() -> String {
    guard let entry = unsafe getpwuid(geteuid()), let name = unsafe entry.pointee.pw_name else { return "user \(geteuid())" }
    return unsafe String(cString: name)
  }

  private static func host() -> String {
    var name = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&name, name.count - 1) == 0, name[0] != 0 else { return "machine" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

struct SyncInit: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Make a space, with this machine as its first device.",
    discussion: """
      The engine is where the log lies: dir:/PATH, a directory of this machine or of a file server; ssh:HOST:/PATH, one of a machine \
      that has coffer and to which ssh logs in without a question; or etcd:HOST:PORT, a cluster of etcd. A directory exists already.
      """)

  @OptionGroup var device: NewDeviceOptions

  func run() throws {
    let session = try device.make { identity, address in
      let replica = try Replica(founding: identity, random: SecretBox.randomBytes(32), ValueKey())
      // Before the vault has keys of a space that cannot be.
      _ = try OpenSpace.connect(address, replica.space, .new)
      return replica
    }
    _ = try session.finish()
    Descriptor.error.note("This machine is the first device of space \(session.keys.space).\n")
    if try DeviceKeys.spaces(in: OpenSpace.keychain()).count > 1 {
      Descriptor.error.note("note: this vault is in several spaces now: other commands take --space ID\n")
    }
    Descriptor.error.note(
      "To share a group of items: coffer sync share GROUP. To add a machine, there: coffer sync join \(device.engine)\n")
  }
}

struct SyncShare: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "share", abstract: "Share the items of a group.",
    discussion: """
      Items of both sides with one name and one secret become one. If the secrets differ, one is shown and the other is a former \
      version, and coffer sync conflicts lists the item. Items of this device alone stay here. All members of the space read them.
      """)

  @Argument(help: ArgumentHelp("The group.", valueName: "group"))
  var group: String

  @OptionGroup var space: SpaceOptions

  func run() throws {
    let group = try AccessGroup(group)
    let session = try space.session()
    let keychain = try OpenSpace.keychain()
    let others = try OpenSpace.states(in: keychain, except: session.keys.space)
    guard !session.state.groups.contains(group) else { return Descriptor.error.note("note: it is shared already\n") }
    try session.share(group, others: others)
    if try !keychain.contains(group), session.offeredGroups()[group] == nil {
      Descriptor.error.note("note: this vault has no group \(group.name.escapingControls()) yet\n")
    }
    try SyncNow.say(session.finish(), about: nil)
  }
}

struct SyncUnshare: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unshare", abstract: "Share a group no longer from this machine.",
    discussion: "Its items stay here and with the other devices. Changes go neither way.")

  @Argument(help: ArgumentHelp("The group.", valueName: "group"))
  var group: String

  @OptionGroup var space: SpaceOptions

  func run() throws {
    let group = try AccessGroup(group)
    let session = try space.session()
    guard session.state.groups.contains(group) else { throw Failure(.notFound, "\(group): is not shared here") }
    try session.unshare(group)
  }
}

struct SyncLeave: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "leave", abstract: "Forget the space and its keys on this machine.",
    discussion: """
      The items stay. The other devices count this one as a member until one of them removes it. Changes that no other device has \
      yet keep the command from it, and so does the place of the last owner of other devices.
      """)

  @Flag(help: "Also with changes that no other device has, and as the last owner.")
  var force = false

  @OptionGroup var space: SpaceOptions

  func run() throws {
    let keys = try force ? space.forget() : leave()
    // Keys that do not open do not tell the name.
    let name = keys.map { "'\($0.identity.name.escapingControls())'" } ?? "NAME, of those that coffer sync members lists"
    Descriptor.error.note("To remove it on another device: coffer sync remove \(name)\n")
  }

  private func leave() throws -> DeviceKeys {
    let session = try space.session()
    // The vault may have changes that no command has seen.
    _ = try session.finish()
    guard session.canLeave else { throw SyncError(.lastOwner, session.keys.space.description) }
    guard session.state.replica.pending.isEmpty else {
      throw SyncError(.changesPending, counted(session.state.replica.pending.count, "change"))
    }
    try session.forget()
    return session.keys
  }
}

struct SyncServe: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Serve a directory to the ssh of another machine.", shouldDisplay: false)

  @Argument var purpose: String
  @Argument var identifier: String
  @Argument var path: String

  func run() throws {
    guard let purpose = EngineAddress.Purpose(rawValue: purpose), let space = Identifier(hexadecimal: identifier),
      path.hasPrefix("/")
    else { throw Failure.usage("serve: is called through ssh alone") }
    try EngineServer.serve(path, space, purpose)
  }
}
