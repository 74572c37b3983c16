import Children
import CofferFiles
import CofferStorage
import CofferTesting
import SecretMemory
import Testing
import VaultCore

@testable import CofferLifecycle

/// The copies of before, at each place where one may lie: which of them a rotation removes, and which it names.
@Suite struct RotationCopyTests {
  private let fixture = Fixture()

  private struct Ended: Error {}

  /// A place of a copy that opens with keys of before.
  enum Place: CaseIterable {
    /// By the name that a backup gets.
    case backup
    /// By such a name, of a later generation than the vault has: an older vault was accepted, and went on from there.
    case laterBackup
    /// A file in the directory of backups, by a name that a person gave.
    case named, laterNamed
    /// Beside the vault, where a conversion leaves it.
    case draft
  }

  /// - Returns: The path of the copy.
  private func makeCopy(at place: Place) throws -> String {
    run("mkdir", "-p", "-m", "700", fixture.backups.path)
    switch place {
    case .backup:
      let path = try #require(try fixture.backup().path)
      try fixture.change()
      return path
    case .named: return copy(fixture.path, to: "\(fixture.backups.path)/mine.coffer")
    case .draft: return try draft(ofThisVault: true)
    case .laterBackup, .laterNamed:
      let present = copy(fixture.path, to: "\(fixture.directory)/present")
      var vault = try fixture.open()
      for number in 0..<20 {
        try vault.add(Item(service: "later", account: "\(number)"), secret: Secret(count: 0), at: .test)
      }
      try vault.close()
      let path =
        place == .laterNamed
        ? copy(fixture.path, to: "\(fixture.backups.path)/later") : try #require(try fixture.backup().path)
      _ = copy(present, to: fixture.path)
      return path
    }
  }

  private func copy(_ file: String, to path: String) -> String {
    run("cp", file, path)
    return path
  }

  /// A vault of the draft format beside the vault, with its identifier or another one.
  private func draft(ofThisVault: Bool) throws -> String {
    let vectors = "\(Path.parent(of: Path.parent(of: #filePath)))/Vectors"
    let path = copy("\(vectors)/Draft/vault.coffer", to: FileStore.draftCopy(ofVaultAt: fixture.path))
    run("chmod", "600", path)
    guard ofThisVault else { return path }
    let id = try Vault.inspect(FileStore(at: fixture.path)).id
    run("sqlite3", path, "UPDATE hdr SET v=CAST(substr(v,1,24)||x'\(id)'||substr(v,41) AS BLOB) WHERE k=0")
    #expect(try Vault.inspect(DraftFile(at: path)).id == id)
    return path
  }

  private func isThere(_ path: String) -> Bool { run("sh", "-c", "[ -e '\(path)' ] && echo yes") == ["yes"] }

  @Test(arguments: Place.allCases, [false, true]) func copiesOfBeforeAreNamedAndRemovedIfThatIsOrdered(
    place: Place, prunes: Bool
  ) throws {
    try fixture.makeVault()
    let path = try makeCopy(at: place)
    let outcome = try fixture.rotate(Party(), at: 600) { $0.prunesBackups = prunes }
    #expect(outcome.removed.contains(path) == prunes && outcome.left.contains(path) != prunes, "\(outcome)")
    #expect(isThere(path) != prunes)
    #expect(try fixture.open().verify().isSound)
  }

  /// A copy by a name of its own is made while rows are sealed anew, so that rows of it are under old keys; a second one when all are under
  /// new keys.
  @Test func aNamedCopyThatIsMadeMeanwhileGoesIfItHasRowsUnderOldKeys() throws {
    try fixture.makeVault(items: 1200)
    run("mkdir", "-m", "700", fixture.backups.path)
    let (early, late) = ("\(fixture.backups.path)/early", "\(fixture.backups.path)/late")
    func make(_ path: String) throws {
      _ = try Backup.make(of: FileStore(at: fixture.path), at: .file(path), now: .test, step: { _, _ in })
    }
    let party = Party()
    party.stepped = { part in if part.hasPrefix("re-key"), !isThere(early) { try make(early) } }
    party.atTheEnd { try make(late) }
    let outcome = try fixture.rotate(party) { $0.prunesBackups = true }
    #expect(outcome.removed.contains(early) && outcome.left == [late])
  }

  /// Files of others, and files that are no vault, are neither removed nor opened.
  @Test func otherFilesStay() throws {
    try fixture.makeVault()
    let other = Fixture()
    try other.makeVault()
    run("mkdir", "-m", "700", fixture.backups.path)
    let directory = fixture.backups.path
    let files = ["foreign", "notes", "20200101T000000Z-g1.coffer", "20200101T000000Z-g2.coffer"].map { "\(directory)/\($0)" }
    for (file, content) in zip(files, [other.path, "/etc/hostname", other.path, "/etc/hostname"]) { _ = copy(content, to: file) }
    run("mkdir", "\(directory)/damaged-20200101T000000Z", "\(directory)/directory")
    run("ln", "-s", "notes", "\(directory)/link")
    let before = fixture.names(directory)
    let draft = try draft(ofThisVault: false)
    let outcome = try fixture.rotate(Party()) { $0.prunesBackups = true }
    #expect(outcome.removed.count == 1 && fixture.names(directory) == before && isThere(draft))
    // Backups are named by their names, and files that a restore has put aside, because they may open with keys of before.
    #expect(
      Set(outcome.left) == Set(files.dropFirst(2) + ["\(directory)/damaged-20200101T000000Z", draft]), "\(outcome.left)")
  }

  /// A draft's place may have something else.
  @Test func aDirectoryInThePlaceOfTheDraftIsNotNamed() throws {
    try fixture.makeVault()
    run("mkdir", FileStore.draftCopy(ofVaultAt: fixture.path))
    let outcome = try fixture.rotate(Party()) { $0.prunesBackups = true }
    #expect(outcome.left == [])
  }

  /// A rotation after a leak was interrupted, and its backup opens with the leaked credential. The next one that ends removes it, without
  /// an order.
  @Test func theBackupOfAnInterruptedRotationGoesWithTheNextOne() throws {
    try fixture.makeVault()
    let ordinary = try #require(try fixture.backup().path)
    let party = Party()
    party.began = { part in if part.hasPrefix("re-key") { throw Ended() } }
    #expect(throws: Ended.self) { _ = try fixture.rotate(party, at: 60) { $0.isLeaked = true } }
    let left = fixture.backups.paths.filter { $0 != ordinary }
    #expect(left.count == 1)
    let outcome = try fixture.rotate(Party(), at: 120)
    #expect(outcome.removed == left && outcome.left.count == 2 && outcome.left.contains(ordinary))
  }

  /// A row is damaged while the keys are replaced: the check at the end finds it, and no copy is removed, because the vault may be needed
  /// from one.
  @Test func copiesStayIfTheLastCheckFails() throws {
    try fixture.makeVault(items: 600)
    let copy = try makeCopy(at: .backup)
    let party = Party()
    party.atTheEnd {
      run("sqlite3", fixture.path, "UPDATE rec SET a=zeroblob(length(a)) WHERE id=(SELECT max(id) FROM rec WHERE id<x'80')")
    }
    #expect(throws: DamagedVault.self) {
      _ = try fixture.rotate(party, at: 60) { ($0.isLeaked, $0.prunesBackups) = (true, true) }
    }
    #expect(isThere(copy) && fixture.backups.paths.count == 2)
  }

  /// The vault is an older one that was accepted, and the clock was wrong: by its name, the backup of the rotation is the oldest.
  @Test func theOldestBackupsGoAndThatOfTheRotationStays() throws {
    try fixture.makeVault()
    try fixture.makeLaterBackups(11, of: try #require(try fixture.backup(at: 10).path))
    let before = fixture.backups.paths
    let outcome = try fixture.rotate(Party())
    let made = Set(outcome.left).subtracting(before)
    #expect(made.count == 1 && fixture.backups.paths.count == BackupDirectory.keptCount, "\(outcome.left)")
  }

  /// The anchor is of the last commit before copies are removed: from then on none of them passes for the vault.
  @Test func theAnchorIsThatOfTheLastCommit() throws {
    try fixture.makeVault()
    let anchors = MemoryAnchorStore()
    var opened = try Vault.openThrowAway(FileStore(at: fixture.path), anchor: anchors)
    _ = try fixture.rotate(&opened, RotationOrder(), Party())
    let anchor = anchors.bytes
    opened.saveAnchor()
    #expect(anchor != nil && anchor == anchors.bytes)
  }
}
