import ArgumentParser
import CofferConsole
import CofferFiles
import CofferStorage
import Explanations
import Glibc
import SecretMemory
import VaultCore
import VaultUpkeep

struct VaultMigrate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Convert a vault in a format of before.",
    discussion: """
      The vault keeps its items, groups, apps, grants and ways to open it. Everything in it is checked before and after. A copy of the file \
      as it was stays beside it as NAME.draft.
      """)

  @Flag(help: "Leave items of this device only that do not open here in the copy.")
  var leaveDeviceItems = false

  @Flag(help: "Leave records that are damaged in the copy.")
  var leaveDamaged = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    try vault.prepare()
    guard try vault.systemAgent() == nil else {
      throw Failure.usage(
        "\(VaultOptions.systemVault): its agent converts no draft",
        hint: Self.byItsUser(geteuid()))
    }
    let path = try vault.vault ?? Places { Environment[$0] }.vault
    // A process that is killed while it has the file open leaves a log beside it.
    let work = try LongWork("converting")
    let conversion = try migrate(path, work)
    work.end()
    guard let conversion else {
      return Descriptor.error.note("note: \(path.escapingControls()): has the current format; nothing to do\n")
    }
    try conversion.report()
  }

  /// The agent's user exists while a unit runs as it.
  private static func byItsUser(_ user: UInt32) -> String {
    "as root: systemctl stop cofferd@\(user).socket cofferd@\(user).service; systemd-run --pty -p DynamicUser=yes -p User=coffer-\(user) "
      + "-p StateDirectory=coffer/\(user) -p StateDirectoryMode=0700 -E COFFER_HOME=/var/lib/coffer/\(user) coffer vault migrate; "
      + "systemctl start cofferd@\(user).socket"
  }

  /// Nil for a vault in the current format. The file is closed afterwards.
  private func migrate(_ path: String, _ work: LongWork) throws -> Conversion? {
    let places = try Places { Environment[$0] }
    guard let draft = try about(path, { try draft(path) }) else { return nil }
    // Held to the end: no agent opens the vault meanwhile.
    let agent = try lock(places.agentLock(forVaultAt: draft.path), path)
    let maintenance = try about(path) { try MaintenanceLock(forVaultAt: draft.path) }
    defer { withExtendedLifetime((agent, maintenance)) {} }
    let keyFile = try vault.keyFile.map { try Descriptor.openKeyFile($0) }
    do {
      let kinds = Set(try Vault.inspect(draft).slots.map(\.type))
      try work.pause()
      return try vault.withCredential(kinds, path, keyFile) { credential in
        try work.begin("converting")
        let opened = try Self.open(draft, credential, vault.ceiling, places)
        let found = try convert(draft, opened, places.anchors(forVaultAt: draft.path), work)
        return Conversion(
          verification: found, elsewhereCount: opened.elsewhereCount, damage: opened.damage, copyPath: draft.copyPath)
      }
    } catch {
      throw failure(error, path)
    }
  }

  /// The hints about damage are for vaults in the current format.
  private func failure(_ error: any Error, _ path: String) -> Failure {
    let failure = Failure(error, about: path)
    guard [Hints.damage, Hints.backup].contains(failure.hint) else { return failure }
    let isOfRecords = (error as? VaultError).map { $0.code.concernsOneRecord || $0.code == .recordUnlisted } ?? false
    let hint =
      isOfRecords && !leaveDamaged
      ? "to leave what is damaged in the copy, which names it: coffer vault migrate --leave-damaged"
      : "a draft is not repaired; to put it aside and take a backup: coffer vault restore FILE"
    return Failure(failure.status, failure.message, hint: hint)
  }

  /// Nil for a vault in the current format.
  private func draft(_ path: String) throws -> DraftFile? {
    do {
      _ = try FileStore(at: path)
      return nil
    } catch StorageError(.migrationNeeded) {
      return try DraftFile(at: path)
    }
  }

  private func lock(_ file: String, _ path: String) throws -> AgentLock {
    do {
      return try AgentLock(at: file)
    } catch {
      guard error.code == .busy else { throw error }
      throw Failure(.inputOutput, "\(path): an agent has it open", hint: "coffer agent stop")
    }
  }

  private func convert(
    _ draft: DraftFile, _ opened: DraftVault, _ anchor: AnchorFiles, _ work: LongWork
  ) throws -> Verification {
    let total = try Vault.inspect(draft).recordCount
    var done: UInt64 = 0
    do {
      return try draft.convert { rows, write in
        let change = try opened.convert(rows, leavesDamaged: leaveDamaged) { record in
          try work.step(done, of: total)
          try write(record)
          done += 1
        }
        guard opened.elsewhereCount == 0 || leaveDeviceItems else { throw Self.unopened(opened.elsewhereCount) }
        return change
      } verify: { rows in
        let found = try opened.verify(rows, anchor: anchor)
        try work.check()
        return found
      }
    } catch StorageError(.vaultExists) {
      throw Failure(.duplicate, "\(draft.copyPath): is there already, and is another file", hint: "move it away")
    }
  }

  private static func open(
    _ draft: DraftFile, _ credential: borrowing Credential, _ ceiling: KDFCeiling, _ places: Places
  ) throws -> DraftVault {
    try DraftVault(
      opening: draft, with: credential, ceiling: ceiling, deviceKey: DeviceKeyFile(at: places.deviceKey).load())
  }

  private static func unopened(_ count: Int) -> Failure {
    Failure(
      .locked, "\(counted(count, "item")) of this device only cannot be opened here; nothing has been changed",
      hint: "convert it where the device key is, or leave them in the copy: --leave-device-items")
  }
}

extension DraftVault {
  fileprivate var elsewhereCount: Int { leftOut.values.count { $0.code.meansSealedElsewhere } }
  fileprivate var damage: [VaultError] {
    leftOut.sorted { $0.key < $1.key }.map(\.value).filter { !$0.code.meansSealedElsewhere }
  }
}

private struct Conversion {
  let verification: Verification
  let elsewhereCount: Int
  let damage: [VaultError]
  let copyPath: String

  func report() throws {
    try Descriptor.output.write("\(counted(verification.recordCount, "record")), all sound\n")
    for problem in verification.problems { Descriptor.error.note("note: \(Failure(problem).message.escapingControls())\n") }
    if elsewhereCount > 0 {
      Descriptor.error.note("note: \(counted(elsewhereCount, "item")) of another device left in the copy\n")
    }
    for damage in damage {
      Descriptor.error.note("note: left in the copy: \(Failure(damage).message.escapingControls())\n")
    }
    Descriptor.error.note("note: the file as it was: \(copyPath.escapingControls())\n")
  }
}
