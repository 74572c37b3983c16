import Children
import CofferPreferences
import CofferPropertyLists
import Testing

/// Sixteen threads that read a domain for the first time.
@Suite(.serialized) struct FirstReadTests {
  @Test("no wrong nil at the first read of sixteen threads", arguments: [false, true])
  func noWrongNil(isUnmapped: Bool) throws {
    let place = Place()
    #expect(place.write("fill k 200", "checkpoint", "set there yes") == ["ok", "ok", "ok"])
    let rounds = isLong ? 5000 : 200
    let child =
      isUnmapped
      ? place.writer("unmapped", commands: ["first-reads \(rounds) there"])
      : place.writer(commands: ["first-reads \(rounds) there"])
    #expect(child.lines() == ["0"])
  }

  /// The control: all sixteen threads of a round are counted.
  @Test func aMissingKeyIsSeenByAll() {
    let place = Place()
    #expect(place.write("set there yes", "first-reads 5 missing") == ["ok", "80"])
  }

  /// The other control: Foundation returns a wrong nil, mostly in the first forty of these thousands of rounds.
  @Test func foundationGivesAWrongNil() throws {
    let place = Place()
    #expect(Foundation.start(in: place, ["set there yes"]).lines() == ["ok"])
    let file = try #require(Foundation.file(in: place))
    let folder = file.split(separator: "/").dropLast().joined(separator: "/")
    for round in 0..<40 { run("cp", file, "/\(folder)/com.example.app.\(round).plist") }
    var wrong = 0
    for _ in 0..<100 where wrong == 0 {
      wrong = Int(Foundation.start(in: place, ["first-reads 40 there"]).lines().first ?? "") ?? 0
    }
    // If all of them were wrong, Foundation would not have found its files.
    #expect(wrong > 0 && wrong < 40 * 16)
  }
}
