import AppContainers
import ArgumentParser
import CofferApps
import CofferConsole
import CofferFiles
import CofferPreferences
import CofferPropertyLists
import CofferSync
import DefaultsCommand
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
        return try projection(place, data)
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

  /// The names of the user's stores on this machine, allowed or not.
  static func names() throws -> [String] { try SyncedPlace.all(in: data()).map(\.identifier) }

  /// A store of this machine, allowed or not; nil if there is none.
  static func store(_ name: String) throws -> SyncedProjection? {
    let data = try data()
    let all = SyncedPlace.all(in: data).filter { $0.identifier.utf8.elementsEqual(name.utf8) }
    return try all.first.flatMap { try projection($0, data) }
  }

  private static func data() throws -> DataDirectory {
    try DataDirectory(at: UserDirectories { Environment[$0] }.dataDirectory())
  }

  private static func projection(_ place: SyncedPlace, _ data: DataDirectory) throws -> SyncedProjection? {
    try SyncedProjection(place, in: data) { Digest.hash($0, byteCount: 32) }
  }

  private static func places<Result>(
    _ session: SpaceSession, _ body: (SyncedPlace, DataDirectory) throws -> Result?
  ) throws -> [Result?] {
    guard session.state.settings.isPersonal else { return [] }
    let data = try data()
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
    // An app tells its person that its values stay here, if its manifest names no store. It may be installed on another machine alone.
    let data = try data()
    guard RunningApp.isGroupOfATeam(store), try data.apps().directory(FileName(store)) != nil else { return }
    let named = try ProgramOfApp.store(of: store, in: data)
    guard named.map({ !$0.utf8.elementsEqual(store.utf8) }) ?? true else { return }
    throw Failure(
      .denied, "\(store): the manifest of the app does not name this store, and its values stay on this machine",
      hint: named.map { "its store is \($0)" } ?? "ubiquity-kvstore-identifier in the manifest, see man coffer-app")
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
    return ["\(counted(report.refused, "setting")) of this machine gave way: coffer sync settings refused NAME prints them"]
  }

  static func failures(in report: SettingsExchange.Report) -> [String] {
    report.failed.map { name, error in
      let failure = failure(error, of: name)
      let hint = failure.hint.map { "; \($0)" } ?? ""
      return "\(name.escapingControls()): is left out: \((failure.message + hint).escapingControls())"
    }
  }

  /// An error of a store in words, with a hint only if that holds for synchronised stores alone.
  static func failure(_ error: any Error, of store: String) -> Failure {
    let failure = Failure(error)
    let isDamaged = (error as? PreferenceError)?.code == .damaged
    // In this order: without its file, and with the log's state of it, all values would be removed everywhere.
    let hint = "move \(store).sync.* away first, then the damaged file: coffer sync now brings the values of the space back"
    return Failure(failure.status, failure.message, hint: isDamaged ? hint : nil)
  }
}

struct SyncSettings: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings", abstract: "Share settings of programs between the machines of one person.",
    subcommands: [
      SyncSettingsList.self, SyncSettingsAllow.self, SyncSettingsDisallow.self, SyncSettingsRefused.self, SyncSettingsForget.self,
    ],
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
    let session = try space.personalSession(isLocked: false)
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
    let names = try Set(settings.keys).union(session.state.settings.allowed).union(SettingStores.names())
    return names.sorted().map { store in
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
      let name = here?.store.values.name.name ?? ""
      let failure = SettingStores.failure(here?.store.named(error) ?? error, of: name)
      let reason = ([failure.message] + [failure.hint].compactMap { $0 }).joined(separator: "; ")
      Descriptor.error.note("note: \(name.escapingControls()): cannot be read: \(reason.escapingControls())\n")
      return Cell("pending", text: "?", .null)
    }
  }

  private static func rows(of store: String, _ session: SpaceSession, _ local: [SyncedProjection]) throws -> [[Cell]] {
    let here = local.first { $0.store.values.name.name.utf8.elementsEqual(store.utf8) }
    let pending: Set<String>
    do {
      pending = Set(try here?.pending().map(\.key) ?? [])
    } catch {
      let error = here?.store.named(error) ?? error
      throw error.code == .damaged ? SettingStores.failure(error, of: store) : error
    }
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
    if try !SettingStores.names().contains(where: { $0.utf8.elementsEqual(store.utf8) }) {
      Descriptor.error.note("note: \(store): no program has written settings under this name here yet\n")
    }
    try session.allow(store)
    try SettingStores.say(session.finishWithSettings().1)
  }
}

struct SyncSettingsDisallow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "disallow", abstract: "Share the settings of a program no longer, on this machine.",
    discussion: "All values stay, here and elsewhere.")

  @Argument(help: ArgumentHelp("The name of its store.", valueName: "name"))
  var store: String

  @OptionGroup var space: SpaceOptions

  func run() throws {
    guard try space.personalSession().disallow(store) else {
      throw Failure(.notFound, "\(store): is not allowed on this machine", hint: "coffer sync settings")
    }
  }
}

struct SyncSettingsRefused: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refused", abstract: "Print the values of this machine that the space has refused, as coffer defaults read does."
  )

  @Argument(help: ArgumentHelp("The store.", valueName: "name"))
  var store: String

  func run() throws {
    guard let refused = try SettingStores.store(store)?.refused, refused.count > 0 else {
      throw Failure(.notFound, "\(store): no value was refused on this machine")
    }
    try Descriptor.output.write(ValueDescription.text(.dictionary(refused)) + "\n")
  }
}

struct SyncSettingsForget: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget", abstract: "Remove all settings of a store, on all machines, and what was refused on this one.")

  @Argument(help: ArgumentHelp("The store.", valueName: "id"))
  var store: String

  @OptionGroup var space: SpaceOptions

  func run() throws {
    let session = try space.personalSession()
    let here = try SettingStores.store(store)
    guard try session.forget(store) + (here?.refused.count ?? 0) > 0 else {
      throw Failure(.notFound, "\(store): the space has no settings of it")
    }
    try here?.forgetRefused()
    _ = try session.finishWithSettings()
  }
}
