import Foundation
import Testing

/// `coffer`, stopped at its end with all its memory in place: no secret is left in it, in no encoding, not even eight bytes of one.
@Suite struct CommandTests {
  static let needles: [Needle] = [
    .text("passphrase", count: 24), .text("new-passphrase", count: 30), .text("secret", count: 48),
    .bytes("other-secret", count: 300), .bytes("key-file", count: 64),
  ]

  /// Each command, and what it is given.
  static func session(_ place: Place) throws -> [(command: String, scan: Scan)] {
    var scans: [(String, Scan)] = []
    func coffer(_ command: String, _ descriptors: [Int32: String] = [:], typed: [String] = [], made: String? = nil) throws {
      let words = command.components(separatedBy: " ")
      let scan = try place.scan("coffer", words, descriptors: descriptors, typed: typed, made: made)
      #expect(scan.ending == "exit 0", "\(command): \(scan.ending)")
      scans.append((command, scan))
    }
    try coffer("vault init --low-memory --passphrase-fd 3 --recovery-key", [1: "recovery", 3: "passphrase"], made: "recovery")
    try coffer("secret set mail/ada --passphrase-fd 3", [0: "secret", 3: "passphrase"])
    try coffer("secret set mail/bob --passphrase-fd 3 --file \(place.file("other-secret"))", [3: "passphrase"])
    try coffer("secret get mail/ada --passphrase-fd 3", [1: "output", 3: "passphrase"])
    #expect(try place.content("output") == place.content("secret"))
    try coffer("secret get mail/bob --json --passphrase-fd 3", [1: "output", 3: "passphrase"])
    try coffer("secret get mail/ada --recovery-key-fd 3", [1: "output", 3: "recovery"], made: "recovery")
    #expect(try place.content("output") == place.content("secret"))
    try coffer("secret list --json --passphrase-fd 3", [1: "output", 3: "passphrase"])
    try coffer("secret edit mail/ada --attr label=mine --passphrase-fd 3", [3: "passphrase"])
    try coffer("secret set mail/ada --update --passphrase-fd 3", [0: "other-secret", 3: "passphrase"])
    try coffer("vault verify --passphrase-fd 3", [1: "output", 3: "passphrase"])
    try coffer("vault slot add --new-key-file \(place.file("key-file")) --passphrase-fd 3", [3: "passphrase"])
    try coffer("secret get mail/bob --key-file \(place.file("key-file"))", [1: "output"])
    try coffer(
      "vault passphrase --low-memory --passphrase-fd 3 --new-passphrase-fd 4", [3: "passphrase", 4: "new-passphrase"])
    // Typed.
    try coffer("vault init --low-memory --vault typed.coffer", typed: ["passphrase", "passphrase"])
    try coffer("secret set mail/ada --vault typed.coffer", typed: ["passphrase", "secret", "secret"])
    try coffer("secret get mail/ada --vault typed.coffer", typed: ["passphrase"])
    try coffer("secret list --vault typed.coffer", typed: ["passphrase"])
    try coffer(
      "vault passphrase --low-memory --vault typed.coffer", typed: ["passphrase", "new-passphrase", "new-passphrase"])
    // One that fails: mistyped, then right; and a wrong passphrase three times.
    try coffer("secret get mail/ada --vault typed.coffer", typed: ["passphrase", "new-passphrase"])
    let wrong = try place.scan(
      "coffer", ["vault", "unlock", "--check", "--vault", "typed.coffer"], typed: ["passphrase", "passphrase", "passphrase"])
    #expect(wrong.ending == "exit 7")
    scans.append(("vault unlock", wrong))
    return scans
  }

  @Test(arguments: Place.Memory.allCases) func nothingIsLeft(memory: Place.Memory) throws {
    let scans = try Self.session(try Place(Self.needles, memory))
    for (command, scan) in scans {
      #expect(scan.leaks.isEmpty, "\(command)")
      // The arena has been wiped by the end.
      #expect(scan.hits.isEmpty, "\(command)")
    }
    let (read, hits) = (scans.map(\.scan.read).reduce(0, +), scans.map(\.scan.hits.count).reduce(0, +))
    print("memory: \(scans.count) commands, \(memory) memory, \(read >> 20) MiB, \(Self.needles.count + 1) needles: \(hits) hits")
  }

  /// The output of the program passes through the command, which also compares it with every form of the secrets.
  @Test(arguments: Place.Memory.allCases) func outputThatIsSearchedLeavesNothing(memory: Place.Memory) throws {
    let place = try Place(Self.needles, memory)
    let opening = ["--key-file", place.file("key-file")]
    for words in [["vault", "init", "--no-passphrase"], ["secret", "set", "mail/ada"], ["secret", "set", "mail/bob"]] {
      let input = words.last == "mail/bob" ? "other-secret" : "secret"
      #expect(try place.scan("coffer", words + opening, descriptors: [0: input]).ending == "exit 0")
    }
    let references = ["--set", "A=coffer://default/mail/ada", "--file", "B=coffer://default/mail/bob"]
    let script = "echo $A; echo $A >&2; cat $B; base64 $B; od -An -v -tx1 $B | tr -d ' '"
    let scan = try place.scan(
      "coffer", ["run"] + references + opening + ["--", "/bin/sh", "-c", script], descriptors: [1: "output"])
    #expect(scan.ending == "exit 0")
    #expect(scan.leaks.isEmpty)
    let output = try place.content("output")
    #expect(String(decoding: output, as: UTF8.self).contains("<concealed A>"))
  }

  /// The keys of the vault, which the reference implementation works out from the file.
  @Test(arguments: Place.Memory.allCases) func noKeyIsLeft(memory: Place.Memory) throws {
    let place = try Place([.bytes("key-file", count: 64), .text("secret", count: 48)], memory)
    let opening = ["--key-file", place.file("key-file"), "--vault", place.file("vault.coffer")]
    let made = try place.scan("coffer", ["vault", "init", "--no-passphrase"] + opening)
    let set = try place.scan("coffer", ["secret", "set", "mail/ada"] + opening, descriptors: [0: "secret"])
    #expect(made.ending == "exit 0" && set.ending == "exit 0")
    try place.write("needles", Data())
    #expect(try place.addKeys(ofVault: "vault.coffer", keyFile: "key-file") == 9)
    for command in ["secret get mail/ada", "secret list", "vault verify", "secret edit mail/ada --attr a=b"] {
      let scan = try place.scan("coffer", command.components(separatedBy: " ") + opening, descriptors: [1: "output"])
      #expect(scan.ending == "exit 0")
      #expect(scan.hits.isEmpty, "\(command)")
    }
  }

  /// Tracing a child of one's own takes no privilege.
  @Test(.enabled(if: getuid() == 0 && canRun(as: 65_534))) func nothingIsLeftForAnOrdinaryUser() throws {
    let place = try Place(Self.needles, .locked)
    try place.give(to: 65_534)
    let scan = try place.scan(
      "coffer", ["vault", "init", "--low-memory", "--passphrase-fd", "3"], descriptors: [3: "passphrase"])
    #expect(scan.ending == "exit 0")
    #expect(scan.hits.isEmpty)
  }

  static func canRun(as user: UInt32) -> Bool {
    guard let place = try? Place([.bytes("x", count: 8)]), (try? place.give(to: user)) != nil else { return false }
    let process = place.process(Place.program("coffer"), ["--version"])
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}
