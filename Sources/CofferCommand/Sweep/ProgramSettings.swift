import VaultCore

/// The settings of programs that a move changes besides the file. The record of a sweep keeps them, so that an undo takes them back.
struct ProgramSettings {
  /// The changes of git's configuration, one a line: `-VALUE` was removed, `+VALUE` was added.
  private static let git = Item.userPrefix + "swept-git"
  /// The change of cargo's configuration: `made` or `changed`, the path, and what was added, each behind a line end.
  private static let cargo = Item.userPrefix + "swept-cargo"

  private var git: [String] = []
  private var cargo: CargoConfiguration.Change?

  var isEmpty: Bool { git.isEmpty && cargo == nil }

  private init() {}

  /// The changes that programs need to ask the vault. Nothing is changed yet.
  init(for findings: [SweepFinding], in place: SweepPlace) throws {
    if findings.contains(where: { $0.way == .gitHelper }) { git = try GitHelper.changes() }
    if findings.contains(where: { $0.way == .cargoProvider }) { cargo = try CargoConfiguration(beside: place.path).change() }
  }

  func carryOut() throws {
    try GitHelper.carryOut(git)
    if let cargo { try CargoConfiguration.carryOut(cargo) }
  }

  func takeBack() throws {
    try GitHelper.carryOut(git, isUndo: true)
    if let cargo { try CargoConfiguration.takeBack(cargo) }
  }

  // MARK: The record

  /// As a record has them.
  static func text(in item: Item) -> String { "\(item[git] ?? "")\0\(item[cargo] ?? "")" }

  /// Those that a record has.
  init(recordedIn item: Item) {
    git = item[Self.git]?.split(separator: "\n").map(String.init) ?? []
    let lines = item[Self.cargo]?.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false) ?? []
    if lines.count == 3 {
      cargo = CargoConfiguration.Change(path: String(lines[1]), isNew: lines[0] == "made", added: String(lines[2]))
    }
  }

  /// - Parameter isAlone: Whether those of an earlier sweep are forgotten.
  func record(in item: inout Item, isAlone: Bool) {
    let kept = isAlone ? ProgramSettings() : ProgramSettings(recordedIn: item)
    item[Self.git] = (kept.git + git.filter { !kept.git.contains($0) }).joined(separator: "\n")
    let change = kept.cargo ?? cargo
    item[Self.cargo] = change.map { "\($0.isNew ? "made" : "changed")\n\($0.path)\n\($0.added)" }
  }
}
