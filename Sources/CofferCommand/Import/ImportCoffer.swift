import ArgumentParser
import Coffer
import CofferConsole
import CofferFiles
import CofferLifecycle
import CofferStorage
import SecretMemory
import VaultCore

struct ImportCoffer: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "coffer", abstract: "Copy items from another vault: an export, or a backup.",
    discussion: """
      All items, or those of names and groups; a SERVICE alone means all of its accounts. Items that the vault has with another value are \
      listed and nothing is changed, unless --replace or --keep decides. Former versions and rights do not come along, nor do items of a \
      device only and those that go with an app.
      """)

  @Argument(help: ArgumentHelp("The other vault's file.", valueName: "file"), completion: .file())
  var file: String

  @Argument(help: ArgumentHelp("SERVICE/ACCOUNT, SERVICE or coffer://GROUP/SERVICE/ACCOUNT.", valueName: "name"))
  var names: [String] = []

  @Option(name: .customLong("group"), help: ArgumentHelp("Only this group. May be repeated.", valueName: "name"))
  var groups: [String] = []

  @Flag(help: "Replace the items that have another value here. Their values stay as former versions, if the policy keeps any.")
  var replace = false

  @Flag(help: "Keep the items that have another value here.")
  var keep = false

  @Flag(help: "Show what would be done, and change nothing.")
  var dryRun = false

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var from: ForeignVaultOptions
  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    guard !replace || !keep else { throw Failure.usage("--replace: --keep says the contrary") }
    let choice = try ItemChoice(names: names, groups: groups)
    try from.check(beside: vault)
    let path = try vault.path()
    // Nothing is copied beside a vault that is not there.
    if path != nil { _ = try VaultPlace(opening: vault.vault) }
    let work = try LongWork("reading")
    let foreign = try foreign(besides: path, work)
    try work.pause()
    let keyFile = try from.fromKeyFile.map { try Descriptor.openKeyFile($0) }
    let items = try access.open(vault)
    guard try !items.keychain.isLocked else { throw Failure(VaultError(.locked), about: "the vault") }
    let source = try from.open(foreign, named: file, keyFile, beside: vault)
    var (entries, unreadableCount) = try listed(choice, source)
    let leftOut = LeftOut(of: &entries, unreadableCount: unreadableCount)
    try work.begin("comparing")
    var plan = try ImportPlan(for: entries, of: source, named: file, in: items, step: work.step)
    if replace || keep { plan.settle(replace ? .replaced : .kept) }
    let report = ImportReport(file: file, plan: plan, leftOut: leftOut, isTrial: dryRun)
    var lostCount = 0
    if !dryRun {
      guard plan.conflicts.isEmpty else { throw report.conflict }
      try work.begin("copying")
      lostCount = try plan.carryOut(from: source, named: file, in: items, step: work.step)
    }
    work.end()
    items.finish()
    try report.write(asJSON: json)
    if lostCount > 0 {
      Descriptor.error.note(
        "note: \(counted(lostCount, "value")) that \(lostCount == 1 ? "was" : "were") here cannot be restored: the policy keeps no former "
          + "versions (coffer vault policy)\n")
    }
  }

  /// Nothing is opened where it lies. Its copy lies among the backups.
  private func foreign(besides path: String?, _ work: LongWork) throws -> ForeignVault {
    let places = try Places { Environment[$0] }
    let vault = places.resolvedPath(ofVaultAt: path ?? places.vault)
    let directory = BackupDirectory(at: places.backups(forVaultAt: vault))
    return try VaultRestore.naming(file) {
      try ForeignVault(copiedFrom: file, besides: path, in: directory, step: work.step)
    }
  }

  private func listed(_ choice: ItemChoice, _ source: borrowing Vault) throws -> ([Entry], Int) {
    var damaged: [VaultError] = []
    let groups = try choice.searchedGroups()
    let found: (entries: [Entry], unavailableCount: Int)
    do {
      let all = try source.entries(where: { groups?.contains($0.reference.group) ?? true }, damaged: { damaged.append($0) })
      found = (all.entries, all.unavailableCount)
    } catch { throw Failure(error, about: file).naming(vault: file) }
    // With names the rest of the file does not matter.
    guard damaged.isEmpty || !names.isEmpty else {
      throw Failure(
        .integrity, "\(file): \(counted(damaged.count, "record")) damaged",
        hint: "name the items to copy, or take another backup", details: damaged.prefix(10).map { Failure($0).message })
    }
    let chosen = try choice.chosen(of: found.entries, in: file, unreadableCount: found.unavailableCount)
    return (chosen, names.isEmpty ? found.unavailableCount : 0)
  }
}
