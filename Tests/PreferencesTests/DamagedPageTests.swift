import CofferPreferences
import CofferPropertyLists
import Foundation
import Testing

@Suite struct DamagedPageTests {
  /// The fourth word of the lock file is the length of the journal; the second one changes with every commit.
  private func damage(_ lock: URL, length: UInt64) throws {
    let file = try FileHandle(forUpdating: lock)
    defer { try? file.close() }
    func word(_ index: UInt64, _ change: (UInt64) -> UInt64) throws {
      try file.seek(toOffset: 8 * index)
      let old = try #require(try file.read(upToCount: 8)).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      try file.seek(toOffset: 8 * index)
      try file.write(contentsOf: unsafe withUnsafeBytes(of: change(old).littleEndian) { unsafe Data($0) })
    }
    try word(3) { _ in length }
    try word(1) { $0 &+ 1 }
  }

  @Test("a shared page with a length that no memory holds does not end the program", arguments: [1 << 40, 1 << 62])
  func impossibleLength(length: UInt64) throws {
    let fixture = try Fixture()
    let domain = try fixture.domain()
    try domain.set(.string("Ada"), forKey: "name")
    try damage(fixture.file("com.example.app.lock"), length: length)
    #expect(domain.value(forKey: "name") == .string("Ada"))
    try domain.set(.integer(1), forKey: "count")
    let next = try fixture.domain()
    #expect(next.value(forKey: "name") == .string("Ada"))
    #expect(next.value(forKey: "count") == .integer(1))
  }

  @Test func controlCharactersOfEveryKindAreNoNames() {
    for name in ["a\u{1B}b", "a\u{7F}b", "a\u{9B}31mb", "a\u{80}"] {
      #expect(throws: PreferenceError(.unsafeName)) { try DomainName(name) }
    }
    #expect(throws: Never.self) { try DomainName("com.example.\u{E9}") }
  }
}
