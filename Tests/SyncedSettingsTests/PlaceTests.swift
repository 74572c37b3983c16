import CofferFiles
import CofferPreferences
import CofferPropertyLists
import Foundation
import Testing

@testable import SyncedSettings

/// Where stores lie, and who may name one.
@Suite struct PlaceTests {
  private static let team = "abcdefghijklmnopqrstuvwxyz234567"
  private let bench: StoreBench

  init() throws { bench = try StoreBench() }

  private func make(_ path: String) throws {
    try FileManager.default.createDirectory(at: bench.root.appending(path: path), withIntermediateDirectories: true)
  }

  @Test(arguments: ["", "a/b", ".hidden", "NSGlobalDomain", "com.example.sync", "com.example.é.sync"])
  func namesThatNoStoreHas(name: String) {
    for owner in [SyncedPlace.Owner.app, .group, .program] {
      #expect(throws: PreferenceError(.unsafeName)) { try SyncedPlace(name, of: owner) }
    }
  }

  @Test func aProgramHasNoStoreOfATeam() {
    #expect(throws: PreferenceError(.unsafeName)) { try SyncedPlace("\(Self.team).app", of: .program) }
  }

  @Test func allStoresAreListed() throws {
    let (app, group) = ("\(Self.team).com.example.app", "\(Self.team).shared")
    try make("Containers/\(app)/Library")
    try make("Containers/\(Self.team).other/Library")
    try make("Groups/\(group)/Library")
    #expect(SyncedPlace.all(in: try bench.data).isEmpty)
    for place in [try SyncedPlace(app, of: .app), try SyncedPlace(group, of: .group), try SyncedPlace("tool", of: .program)] {
      let projection = try #require(try SyncedProjection(place, in: bench.data, hash: StoreBench.hash))
      try projection.receive([SyncedChange("k", .string(place.identifier))], .serverChange)
      #expect(projection.store.values.value(forKey: "k") == .string(place.identifier))
    }
    // An app has one store in its container.
    _ = SyncedStore(
      try DomainName("\(Self.team).com.example.victim"),
      in: PreferenceDirectory(
        bench.root.appending(path: "Containers/\(app)/Library/SyncedPreferences").path))
    _ = SyncedStore(
      try DomainName("\(Self.team).com.example.victim"),
      in: PreferenceDirectory(
        bench.root.appending(path: "SyncedPreferences").path))
    let places = SyncedPlace.all(in: try bench.data)
    #expect(places.map(\.identifier) == [app, group, "tool"])
    #expect(places.map(\.owner) == [.app, .group, .program])
    #expect(FileManager.default.fileExists(atPath: bench.root.appending(path: "SyncedPreferences/tool.lock").path))
  }

  @Test func aStoreWithoutAContainerIsNotMade() throws {
    let place = try SyncedPlace("\(Self.team).app", of: .app)
    #expect(try SyncedProjection(place, in: bench.data, hash: StoreBench.hash) == nil)
  }

  @Test(arguments: ["Library", "Library/SyncedPreferences", "Library/SyncedPreferences/ByHost"])
  func noLinkOfAnAppIsFollowed(path: String) throws {
    let app = "\(Self.team).app"
    let link = bench.root.appending(path: "Containers/\(app)/\(path)")
    try make("elsewhere/SyncedPreferences")
    try make("Containers/\(app)/\(path)")
    try FileManager.default.removeItem(at: link)
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: bench.root.appending(path: "elsewhere"))
    let place = try SyncedPlace(app, of: .app)
    #expect(throws: FileError(.symbolicLink)) { try SyncedProjection(place, in: bench.data, hash: StoreBench.hash) }
    #expect(SyncedPlace.all(in: try bench.data).isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: bench.root.appending(path: "elsewhere").path).count == 1)
  }

  @Test func aDirectoryThatIsExchangedStaysTheSame() throws {
    let app = "\(Self.team).app"
    try make("Containers/\(app)/Library")
    try make("elsewhere")
    let place = try SyncedPlace(app, of: .app)
    let projection = try #require(try SyncedProjection(place, in: bench.data, hash: StoreBench.hash))
    let directory = bench.root.appending(path: "Containers/\(app)/Library/SyncedPreferences")
    try FileManager.default.moveItem(at: directory, to: bench.root.appending(path: "old"))
    try FileManager.default.createSymbolicLink(at: directory, withDestinationURL: bench.root.appending(path: "elsewhere"))
    try projection.receive([SyncedChange("k", .integer(1))], .serverChange)
    try projection.store.values.compact()
    #expect(try FileManager.default.contentsOfDirectory(atPath: bench.root.appending(path: "elsewhere").path).isEmpty)
    #expect(FileManager.default.fileExists(atPath: bench.root.appending(path: "old/\(app).plist").path))
  }

  @Test func bytesOfAValueAreRead() throws {
    let values: [PropertyListValue] = [
      .string("é"), .integer(-1), .unsigned(.max), .real(.nan), .boolean(true), .date(1.5), .data([0, 1]), .uid(3),
      .array([.integer(1), .array([])]), .dictionary(.of(["b": .string(""), "a": .dictionary(.init())])),
    ]
    for value in values {
      let bytes = value.journalBytes
      #expect(PropertyListValue(journalBytes: bytes) == value)
      #expect(PropertyListValue(journalBytes: bytes + [0]) == nil)
      for count in 0..<bytes.count { #expect(PropertyListValue(journalBytes: Array(bytes.prefix(count))) != value) }
    }
  }
}
