import AppContainers
import ArgumentParser
import CofferConsole
import CofferFiles
import CofferPreferences
import CofferPropertyLists
import CofferSync
import SyncedSettings
import VaultCore
import VaultSync

/// The stores of settings on this machine.
enum SettingStores {
  /// Those of the user that the person has allowed; none if the space is not personal. A store of a program that has never run here is
  /// made.
  static func allowed(by session: SpaceSession) throws -> [SyncedProjection] {
    return try places(session) { place, data in
      do {
        return try SyncedProjection(place, in: data) { Digest.hash($0, byteCount: 32) }
      } catch {
        // An app may put a link in the place of its directory. It must not hold up the others, nor the items.
        Descriptor.error.note(
          "note: \(place.identifier.escapingControls()): is left out: \(Failure(error).message.escapingControls())\n")
        return nil
      }
    }.compactMap { $0 }
  }

  /// The directories of those stores, in the same order; nil for one that does not exist, or is left out.
  static func directories(of session: SpaceSession) throws -> [SyncedPlace.Identity?] {
    try places(session) { place, data in try? place.identity(in: data) }
  }

  private static func places<Result>(
    _ session: SpaceSession, _ body: (SyncedPlace, DataDirectory) throws -> Result?
  ) throws -> [Result?] {
    guard session.state.settings.isPersonal else { return [] }
    let data = try DataDirectory(at: UserDirectories { Environment[$0] }.dataDirectory())
    return try session.state.settings.allowed.sorted().map { store in
      for owner in owners(store) {
        if let result = try body(SyncedPlace(store, of: owner), data) { return result }
      }
      return nil
    }
  }

  /// An app, or a group of apps of a team, has its store in its container.
  private static func owners(_ store: String) -> [SyncedPlace.Owner] {
    RunningApp.isGroupOfATeam(store) ? [.app, .group] : [.program]
  }

  /// - Throws: `Failure`, for a name that no store has.
  static func check(_ store: String) throws {
    do {
      _ = try SyncedPlace(store, of: owners(store)[0])
    } catch {
      throw Failure.usage("\(store): is not the name of a store of settings", hint: "as of coffer defaults domains")
    }
  }

  static func say(_ report: SettingsExchange.Report) throws {
    let words = [(report.sent, "changed here"), (report.received, "changed by others")].filter { $0.0 > 0 }
    if !words.isEmpty {
      try Descriptor.output.write("settings: " + words.map { "\($0.0) \($0.1)" }.joined(separator: ", ") + "\n")
    }
    for note in refusals(in: report) + failures(in: report) { Descriptor.error.note("note: \(note)\n") }
  }

  static func refusals(in report: SettingsExchange.Report) -> [String] {
    guard report.refused > 0 else { return [] }
    return ["\(counted(report.refused, "setting")) of this machine gave way: coffer sync settings ID lists them"]
  }

  static func failures(in report: SettingsExchange.Report) -> [String] {
    report.failed.map { "\($0.name.escapingControls()): is left out: \(Failure($0.error).message.escapingControls())" }
  }
}

struct SyncSettings: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings", abstract: "Share settings of programs between the machines of one person.",
    subcommands: [SyncSettingsList.self, SyncSettingsAllow.self, SyncSettingsForget.self],
    defaultSubcommand: SyncSettingsList.self)
}

struct SyncSettingsList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the stores of the personal space, or the settings of one.",
    discussion: "Of a store: key, bytes, the device that wrote it last if its entry is kept, and what waits or was refused.")

  @Argument(help: ArgumentHelp("The store: the name of a program or an app.", valueName: "id"))
  var store: String?

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var space: SpaceOptions

  func run() throws {
    let session = try space.personalSession()
    let local = try SettingStores.allowed(by: session)
    let rows = try store.map { try Self.rows(of: $0, session, local) } ?? Self.rows(session, local)
    if json {
      for row in rows { try Descriptor.output.write(JSON.object(row.map { ($0.name, $0.value) }).description + "\n") }
    } else if let first = rows.first {
      let table = Table(heading: first.map { $0.name.uppercased() }, rows: rows.map { $0.map(\.text) })
      try Descriptor.output.write(table.text(style: .current()))
    }
  }

  private struct Cell {
    let name: String
    let text: String
    let value: JSON

    init(_ name: String, text: String, _ value: JSON) { (self.name, self.text, self.value) = (name, text, value) }
    init(_ name: String, _ text: String) { self.init(name, text: text, .text(text)) }
    init(_ name: String, _ count: Int) { self.init(name, text: "\(count)", .natural(UInt64(count))) }
  }

  private static func rows(_ session: SpaceSession, _ local: [SyncedProjection]) throws -> [[Cell]] {
    let settings = Dictionary(grouping: session.settings(), by: \.name.store)
    return Set(settings.keys).union(session.state.settings.allowed).sorted().map { store in
      let here = local.first { $0.store.values.name.name.utf8.elementsEqual(store.utf8) }
      let all = settings[store] ?? []
      return [
        Cell("store", store), Cell("keys", all.count), Cell("bytes", all.reduce(0) { $0 + $1.byteCount }),
        Cell("allowed", here == nil ? "no" : "yes"), pending(here), Cell("refused", here?.refused.count ?? 0),
      ]
    }
  }

  /// One store that cannot be read hides no other.
  private static func pending(_ here: SyncedProjection?) -> Cell {
    do {
      return try Cell("pending", here?.pending().count ?? 0)
    } catch {
      let reason = Failure(here?.store.named(error) ?? error).message.escapingControls()
      Descriptor.error.note("note: \(here?.store.values.name.name.escapingControls() ?? ""): cannot be read: \(reason)\n")
      return Cell("pending", text: "?", .null)
    }
  }

  private static func rows(of store: String, _ session: SpaceSession, _ local: [SyncedProjection]) throws -> [[Cell]] {
    let here = local.first { $0.store.values.name.name.utf8.elementsEqual(store.utf8) }
    let pending: Set<String>
    do { pending = Set(try here?.pending().map(\.key) ?? []) } catch { throw here?.store.named(error) ?? error }
    let (authors, devices) = (try session.state.replica.authors(), session.state.replica.membership.devices)
    func row(_ key: String, _ count: Int, _ writer: String, _ state: String) -> [Cell] {
      [Cell("key", key), Cell("bytes", count), Cell("writer", writer), Cell("state", state)]
    }
    let settings = session.settings(of: store)
    var rows = settings.map { setting in
      let writer = authors[setting.write.dot].flatMap { devices[$0]?.name } ?? ""
      return row(setting.name.key, setting.byteCount, writer, pending.contains(setting.name.key) ? "pending" : "")
    }
    for key in pending.subtracting(settings.map(\.name.key)).sorted() { rows.append(row(key, 0, "", "pending")) }
    for key in here?.unsharedKeys ?? [] { rows.append(row(key, 0, "", "not shared")) }
    for (key, value) in here?.refused.sorted ?? [] { rows.append(row(key, value.journalBytes.count, "", "refused")) }
    guard !rows.isEmpty || here != nil else { throw Failure(.notFound, "\(store): the space has no settings of it") }
    return rows
  }
}

struct SyncSettingsAllow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "allow", abstract: "Share the settings that a program keeps for all machines.",
    discussion: "Each machine allows it for itself. Its values become those of the space; where both have one, the space's stays."
  )

  @Argument(help: ArgumentHelp("The name of its store: that of the program or the app.", valueName: "name"))
  var store: String

  @OptionGroup var space: SpaceOptions

  func run() throws {
    let session = try space.personalSession()
    try SettingStores.check(store)
    try session.allow(store)
    try SettingStores.say(session.finishWithSettings().1)
  }
}

struct SyncSettingsForget: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget", abstract: "Remove all settings of a store, on all machines.")

  @Argument(help: ArgumentHelp("The store.", valueName: "id"))
  var store: String

  @OptionGroup var space: SpaceOptions

  func run() throws {
    let session = try space.personalSession()
    guard try session.forget(store) > 0 else { throw Failure(.notFound, "\(store): the space has no settings of it") }
    _ = try session.finishWithSettings()
  }
}
