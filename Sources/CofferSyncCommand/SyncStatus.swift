import ArgumentParser
import CWords
import Coffer
import CofferConsole
import CofferSync
import VaultCore
import VaultSync

struct SyncStatus: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the space, this device, and what waits.",
    discussion: "Reads the log of the engine, and changes nothing.")

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var space: SpaceOptions

  func run() throws {
    for open in try space.sessions(isLocked: false) {
      let status = try SpaceStatus(of: open())
      if json {
        try Descriptor.output.write(JSON.object(status.rows.map { ($0.name, $0.json) }).description + "\n")
      } else {
        let table = Table(heading: ["SPACE", ""], rows: status.rows.map { [$0.name, $0.text] })
        try Descriptor.output.write(table.text(style: .current()))
      }
    }
  }
}

/// For `coffer doctor`.
struct SyncFindings: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "findings", abstract: "Print what needs a person, for coffer doctor.", shouldDisplay: false)

  func run() throws {
    do {
      let keychain = try OpenSpace.keychain()
      for space in try DeviceKeys.spaces(in: keychain) {
        for line in Self.findings(space, keychain) {
          try Descriptor.output.write("sync \(space.description.prefix(8)): \(line.escapingControls())\n")
        }
      }
    } catch {
      let failure = Failure(error)
      // For a vault that is locked, and for none, the doctor has words of its own.
      guard ![.locked, .notFound].contains(failure.status) else { throw error }
      try Descriptor.output.write("sync: not checked: \(failure.message.escapingControls())\n")
    }
  }

  /// An error is one of them: the other spaces are shown as well.
  private static func findings(_ space: Identifier, _ keychain: Keychain) -> [String] {
    do {
      return try SpaceStatus(of: OpenSpace.session(space, in: keychain, isLocked: false)).findings
    } catch {
      return ["not checked: \(Failure(error).message)"]
    }
  }
}

extension Replica {
  /// Devices that were removed in a history that this device, or another one, has left. nil if there are none.
  var waiting: String? {
    let removed = awaitedRemovals.union(leftHistories.flatMap(\.left.removed))
    let names = membership.devices.values.filter { removed.contains($0.id) }.map { "\($0.name) of \($0.person)" }.sorted()
    return names.isEmpty ? nil : "an owner has to remove again: \(names.joined(separator: ", "))"
  }
}

struct SyncCheck: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Print six words of the log, to compare them with another device.",
    discussion: """
      Two devices that have read the same log up to an entry have the same words for it. If they differ, the engine has shown them \
      different logs. Looks at all that the engine has, and puts back what it has lost, as each device does once a day.
      """)

  @Option(help: ArgumentHelp("The words of another device: whether this one has the same for that entry.", valueName: "n:words"))
  var against: String?

  @OptionGroup var space: SpaceOptions

  func run() throws {
    let session = try space.session()
    do {
      for note in SyncNow.notes(on: try session.finish(inspects: true)) { Descriptor.error.note("note: \(note)\n") }
    } catch let halt as Halt where session.canCompare(after: halt) {
      Descriptor.error.note("note: \(Failure(halt).message): the words are of what this device has read before\n")
    }
    let replica = session.state.replica
    guard let against else {
      return try Descriptor.output.write("\(replica.count - 1):\(Self.words(replica.chain).joined(separator: "-"))\n")
    }
    let parts = against.split(separator: ":", maxSplits: 1)
    let typed = parts.last?.lowercased().split { $0 == "-" || $0 == " " }.map(String.init) ?? []
    guard parts.count == 2, typed.count == Self.wordCount, let number = UInt64(parts[0]) else {
      throw Failure.usage("--against \(against): is not N:WORDS", hint: "as the other device's coffer sync check prints it")
    }
    guard let chain = replica.chain(of: number) else {
      throw Failure(
        .notFound, "entry \(number): this device does not have it", hint: "compare the words of this device with the other one")
    }
    guard typed == Self.words(chain) else {
      throw Failure(
        .integrity, "entry \(number): the words differ: the engine has shown two different logs, or they are mistyped",
        hint: "type them again; then find out which devices have the right log")
    }
  }

  private static let wordCount = 6

  /// Each is one of 7,776.
  private static func words(_ chain: Digest) -> [String] {
    (0..<wordCount).map { index in
      let number = chain.bytes[4 * index..<4 * index + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      return unsafe coffer_word(Int32(number % UInt32(coffer_word_count))).map { unsafe String(cString: $0) } ?? ""
    }
  }
}

struct SyncConflicts: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conflicts", abstract: "List the items that two devices have changed without knowing of each other.",
    discussion: """
      One value is shown; the others are former versions: coffer secret history ITEM. A new value, or coffer secret restore, \
      settles it.
      """)

  @Option(help: ArgumentHelp("Settle it with the value that is shown.", valueName: "item"))
  var keep: String?

  @OptionGroup var space: SpaceOptions

  func run() throws {
    let session = try space.session(isLocked: keep != nil)
    let conflicts = session.conflicts()
    guard let keep else {
      let table = Table(heading: ["ITEM", "GROUP", "PARTS"], rows: conflicts.map { [$0.name, $0.group.name, Self.parts($0)] })
      return try Descriptor.output.write(table.text(style: .current()))
    }
    let named = conflicts.filter { $0.name == keep }
    guard let conflict = named.first else {
      throw Failure(.notFound, "\(keep): is in no conflict", hint: "coffer sync conflicts lists the items")
    }
    guard named.count == 1 else { throw Failure(.severalMatch, "\(keep): items of several groups have this name") }
    let engine = try session.connect()
    try session.keep(conflict) { try engine.get($0) }
    try SyncNow.say(session.synchronise(with: engine), about: nil)
  }

  private static func parts(_ conflict: SyncConflict) -> String {
    conflict.registers.map { $0 == .secret ? "secret" : "attributes" }.joined(separator: ", ")
  }
}
