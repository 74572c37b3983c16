import ArgumentParser
import CofferConsole
import CofferFiles
import CofferStorage
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

  @OptionGroup var vault: VaultOptions

  func run() throws {
    try vault.prepare()
    try vault.checkIsFile()
    let places = try Places { Environment[$0] }
    let path = vault.vault ?? places.vault
    guard let draft = try about(path, { try draft(path) }) else {
      return Descriptor.error.note("note: \(path.escapingControls()): has the current format; nothing to do\n")
    }
    // Held to the end: no agent opens the vault meanwhile.
    let agent = try lock(places.agentLock(forVaultAt: draft.path), path)
    let maintenance = try about(path) { try MaintenanceLock(forVaultAt: draft.path) }
    let keyFile = try vault.keyFile.map { try Descriptor.openKeyFile($0) }
    try about(path) {
      let kinds = Set(try Vault.inspect(draft).slots.map(\.type))
      try vault.withCredential(kinds, path, keyFile) { try convert(draft, $0, places) }
    }
    withExtendedLifetime((agent, maintenance)) {}
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

  private func convert(_ draft: DraftFile, _ credential: borrowing Credential, _ places: Places) throws {
    let opened = try Self.open(draft, credential, vault.ceiling, places)
    let verification = try convert(draft, opened, places.anchors(forVaultAt: draft.path))
    try Descriptor.output.write("\(counted(verification.recordCount, "record")), all sound\n")
    for problem in verification.problems { Descriptor.error.note("note: \(Failure(problem).message.escapingControls())\n") }
    if opened.leftOutCount > 0 {
      Descriptor.error.note("note: \(counted(opened.leftOutCount, "item")) of another device left in the copy\n")
    }
    Descriptor.error.note("note: the file as it was: \(draft.copyPath.escapingControls())\n")
  }

  private func convert(_ draft: DraftFile, _ opened: DraftVault, _ anchor: AnchorFiles) throws -> Verification {
    do {
      return try draft.convert { rows, write in
        let change = try opened.convert(rows, write: write)
        guard opened.leftOutCount == 0 || leaveDeviceItems else { throw Self.unopened(opened.leftOutCount) }
        return change
      } verify: { rows in
        try opened.verify(rows, anchor: anchor)
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
