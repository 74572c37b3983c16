import CofferConsole
import CofferSync
import EtcdEngine
import Glibc
import SyncEngines
import VaultCore
import VaultSync

/// The state of a space, for `coffer sync status`, and the part of it that needs a person, for `coffer doctor`.
struct SpaceStatus {
  private static let day: Int64 = 86_400
  /// In days: a certificate that ends sooner is a finding.
  private static let notice: Int64 = 30
  private static let noRoom = "the disk has no room for the files of this device"

  private let session: SpaceSession
  private let now = Timestamp.now.secondsSince1970
  private let conflictCount: Int
  /// Changes that wait for the log, also those that no pass has taken yet, without deletions that wait for a person.
  private let pendingCount: Int
  private let offered: [String]
  /// nil for a space of several persons.
  private let settingCount: Int?
  /// When the certificate for etcd ends; nil for other engines, and for a file that cannot be read.
  private let certificateEnd: Int64?
  /// Entries that the engine has and this device has not read, or some of them; nil if it was not reached.
  private var behind: Int?
  private let hasRoom: Bool
  private var unreachable: String?
  /// The device that has made the entry after which this one has stopped.
  private var next: DeviceRecord?
  /// The entry because of which this device has stopped.
  private var changed: ChangedEntry?

  private var replica: Replica { session.state.replica }
  private var notes: SyncNotes { session.state.notes }
  private var silent: [DeviceRecord] { notes.silentDevices(of: replica) }

  init(of session: SpaceSession) throws {
    self.session = session
    conflictCount = session.conflicts().count
    pendingCount = try session.state.replica.pending.count { !$0.isHeld } + session.unseenCount()
    offered = session.offeredGroups().keys.filter { !session.state.groups.contains($0) }.sorted().map(\.name)
    settingCount = session.state.settings.isPersonal ? session.settings().count : nil
    hasRoom = try session.hasRoom()
    certificateEnd = try Self.certificateEnd(OpenSpace.address(session.state.engine))
    do {
      let engine = try session.connect()
      let entries = try engine.read(from: replica.count, limit: 100)
      behind = entries.count
      if replica.halt == .replaced { changed = try ChangedEntry(of: session, in: engine) }
      if replica.halt != nil, let entry = entries.first { next = try replica.author(of: entry.bytes) }
    } catch let error as EngineFailure {
      unreachable = error.detail
    }
  }

  private static func certificateEnd(_ address: EngineAddress) throws -> Int64? {
    guard case .etcd = address else { return nil }
    // An error of the files is reported when they are used.
    return try? EtcdCertificates(in: OpenSpace.certificates()).end()
  }

  // MARK: Rows

  typealias Row = (name: String, text: String, json: JSON)

  private func row(_ name: String, _ text: String) -> Row { (name, text, .text(text)) }
  private func row(_ name: String, _ count: Int) -> Row { (name, "\(count)", .natural(UInt64(count))) }
  private func row(_ name: String, _ text: String, at time: Int64?) -> Row { (name, text, time.map { .integer($0) } ?? .null) }

  var rows: [Row] {
    let own = replica.membership[replica.id]
    var rows: [Row] = [
      row("space", session.keys.space.description), row("engine", session.state.engine),
      row("device", "\(session.keys.identity.person), \(session.keys.identity.name)"),
      row("role", own.map { "\($0.role)" } ?? "no member"),
      row("groups", session.state.groups.sorted().map(\.name).joined(separator: ", ")),
      row("entries", Int(clamping: replica.count)), row("devices", replica.membership.devices.count),
      row("pending", pendingCount), row("held", replica.pending.count(where: \.isHeld)),
      row("conflicts", conflictCount), row("void", replica.voidRun), row("silent", Self.names(silent)),
      row("offered", offered.joined(separator: ", ")),
      row("passed", notes.lastPass.map { age(of: $0 / 1000) } ?? "never", at: notes.lastPass.map { $0 / 1000 }),
    ]
    if let failure = notes.failure {
      rows += [row("failed", failure.text), row("failure", age(of: failure.time / 1000), at: failure.time / 1000)]
      if failure.isOfSpace { rows.append(row("full", "the engine had no space left for entries")) }
    }
    if !hasRoom { rows.append(row("room", Self.noRoom)) }
    if let settingCount { rows.append(row("settings", settingCount)) }
    if let certificateEnd { rows.append(row("certificate", rest(until: certificateEnd), at: certificateEnd)) }
    if let halt = replica.halt { rows.append(row("stopped", halt.explanation.message)) }
    if let changed { rows.append(row("changed", changed.text)) }
    if let waiting = replica.waiting { rows.append(row("waits", waiting)) }
    if let behind { rows.append(row("behind", behind)) }
    if let next { rows.append(row("next", "entry of \(next.name) of \(next.person)")) }
    if let unreachable { rows.append(row("unreachable", unreachable)) }
    return rows
  }

  private static func names(_ devices: [DeviceRecord]) -> String {
    devices.map { "\($0.name) of \($0.person)" }.joined(separator: ", ")
  }

  private func age(of time: Int64) -> String {
    let seconds = max(0, now - time)
    switch seconds {
    case ..<60: return "less than a minute ago"
    case ..<3600: return "\(counted(seconds / 60, "minute")) ago"
    case ..<Self.day: return "\(counted(seconds / 3600, "hour")) ago"
    default: return "\(counted(seconds / Self.day, "day")) ago"
    }
  }

  private func rest(until time: Int64) -> String {
    let seconds = time - now
    if seconds < 0 { return "ended \(age(of: time))" }
    return seconds < Self.day ? "ends in less than a day" : "ends in \(counted(seconds / Self.day, "day"))"
  }

  // MARK: Findings

  /// A line for the state, and one for each thing that needs a person, with the command that helps.
  var findings: [String] {
    let more = behind.map { $0 == 0 ? "which are all" : "at least \($0) more are in the log" } ?? "the log is not reached"
    let passed = notes.lastPass.map { age(of: $0 / 1000) } ?? "never"
    var lines = ["entries read: \(replica.count), \(more); last pass without an error: \(passed)"]
    if let unreachable { lines.append("the engine cannot be used (\(unreachable)); nothing is lost") }
    if let failure = notes.failure { lines.append("the last pass has failed, \(age(of: failure.time / 1000)): \(failure.text)") }
    if notes.failure?.isOfSpace == true { lines.append("the engine had no space left for entries: its keeper has to make room") }
    if !hasRoom { lines.append("\(Self.noRoom): nothing is sent or taken until there is some") }
    if let halt = replica.halt {
      let hint = changed?.isDamaged == true ? ChangedEntry.remedy : halt.explanation.hint
      lines.append(
        "it has stopped: \([halt.explanation.message, changed?.text, hint].compactMap(\.self).joined(separator: "; "))")
    }
    if let waiting = replica.waiting { lines.append(waiting) }
    if pendingCount > 0 { lines.append("\(counted(pendingCount, "change")) not sent yet; coffer sync now") }
    let heldCount = replica.pending.count(where: \.isHeld)
    if heldCount > 0 { lines.append("\(counted(heldCount, "deletion")) that a person confirms; coffer sync accept-deletions") }
    if conflictCount > 0 { lines.append("\(counted(conflictCount, "conflict")); coffer sync conflicts") }
    if !silent.isEmpty {
      lines.append("no entry for more than a week of \(Self.names(silent)): off, or the engine withholds what they write")
    }
    if replica.warnsOfVoidEntries {
      lines.append(
        "\(replica.voidRun) entries in a row are of no member: another program writes to the engine; its keeper has to end that")
    }
    if let end = certificateEnd, end - now < Self.notice * Self.day {
      lines.append("the certificate for etcd \(rest(until: end))")
    }
    return lines
  }
}

extension Timestamp {
  fileprivate static var now: Timestamp { Timestamp(secondsSince1970: Int64(time(nil))) }
}
