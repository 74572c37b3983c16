import Children
import CofferFiles
import CofferStorage
import Glibc
import SecretMemory
import Testing
import VaultCore

@Suite struct DeviceKeyFilesTests {
  private enum Place: CaseIterable { case next, own, shared }

  private func files(_ fixture: Fixture) throws -> DeviceKeyFiles {
    let places = Places(in: fixture.directory)
    return places.deviceKeys(of: try #require(Identifier([UInt8](repeating: 7, count: 16))))
  }

  private func file(_ place: Place, _ files: DeviceKeyFiles) -> DeviceKeyFile {
    switch place {
    case .next: files.next
    case .own: files.own
    case .shared: files.shared
    }
  }

  private func key(_ place: Place) throws -> Secret {
    let bytes = [UInt8](repeating: UInt8(Place.allCases.firstIndex(of: place)!), count: 32)
    return unsafe try Secret(copying: bytes.span.bytes)
  }

  private func subsets() -> [Set<Place>] {
    (0..<8).map { bits in Set(Place.allCases.enumerated().filter { bits >> $0.offset & 1 == 1 }.map(\.element)) }
  }

  /// The first key that opens a box is in force; if none does, the vault's own one is, or else the shared one: never one that a rotation
  /// has only made.
  @Test func theVaultDecidesWhichKeyIsInForce() throws {
    for present in subsets() {
      let fixture = try Fixture(withVault: false)
      let files = try files(fixture)
      for place in present { try file(place, files).create(key(place)) }
      for opening in subsets() {
        let found = try files.load { key in
          for place in opening where try self.key(place).isEqual(to: key) { return true }
          return false
        }
        let order = Place.allCases.filter { present.contains($0) }
        let wanted = order.first { opening.contains($0) } ?? order.first { $0 != .next }
        let isWanted =
          switch consume found {
          case .some(let found): try wanted.map { try key($0).isEqual(to: found) } ?? false
          case .none: wanted == nil
          }
        #expect(isWanted, "\(present) \(opening): another key than \(wanted as Any)")
      }
    }
  }

  /// In the usual case there is one, and the vault is not asked.
  @Test func oneKeyIsNotTried() throws {
    for place in [Place.own, .shared] {
      let fixture = try Fixture(withVault: false)
      let files = try files(fixture)
      try file(place, files).create(key(place))
      let found = try files.load { _ in
        Issue.record("the vault was asked")
        return false
      }
      let isThere = found != nil
      #expect(isThere)
    }
  }

  @Test func aVaultOfBeforeKeepsTheSharedKeyAndANewOneHasItsOwn() throws {
    let fixture = try Fixture(withVault: false)
    let files = try files(fixture)
    try files.createBesideShared()
    #expect(unsafe access(files.own.path, F_OK) != 0)
    try files.shared.create(key(.shared))
    try files.createUnlessThere()
    #expect(unsafe access(files.own.path, F_OK) != 0)
    try files.createBesideShared()
    let own = Fixture.read(files.own.path)
    #expect(own.count == 32)
    try files.createBesideShared()
    try files.createUnlessThere()
    #expect(Fixture.read(files.own.path) == own)
  }

  @Test func theNextKeyTakesThePlaceOfTheOwnOne() throws {
    let fixture = try Fixture(withVault: false)
    let files = try files(fixture)
    try files.createUnlessThere()
    let own = Fixture.read(files.own.path)
    try files.makeNext()
    let first = Fixture.read(files.next.path)
    try files.makeNext()
    let next = Fixture.read(files.next.path)
    #expect(Set([own, first, next]).count == 3 && Fixture.read(files.own.path) == own)
    try files.takeNext()
    #expect(Fixture.read(files.own.path) == next)
    let state = run("sh", "-c", "ls \(fixture.directory)/state; stat -c %a \(files.own.path)")
    #expect(state == [Path.name(of: files.own.path), "600"])
  }
}
