import Children
import CofferFiles
import CofferSync
import Glibc
import SyncEngines
import Testing
import VaultCore

@testable import EtcdEngine

let hasServer: ConditionTrait = .enabled(if: unsafe access("/usr/bin/etcd", X_OK) == 0, "etcd-server is not installed")

/// The engine with a real server.
@Suite(.serialized, hasServer)
struct EtcdEngineTests {
  @Test func entriesAndObjectsAreKept() throws {
    let server = try Server()
    let engine = try server.ready()
    #expect(try engine.append(1, [1]) == .shorter)
    #expect(try engine.append(0, [0]) == .made)
    #expect(try engine.append(0, [9]) == .taken)
    #expect(try engine.append(1, [1]) == .made)
    #expect(try engine.append(3, [3]) == .shorter)
    #expect(try engine.append(.max, [3]) == .shorter)
    #expect(try engine.read(from: 0, limit: 500) == [NumberedEntry(0, [0]), NumberedEntry(1, [1])])
    #expect(try server.engine().read(from: 1, limit: 500) == [NumberedEntry(1, [1])])
    #expect(try engine.read(from: 0, limit: 1) == [NumberedEntry(0, [0])])
    for number in [2, 1 << 62, UInt64.max] { #expect(try engine.read(from: number, limit: 500) == []) }
    let object = [UInt8](repeating: 5, count: ObjectSealer.maximumByteCount)
    let name = ObjectName(of: object)
    #expect(try engine.get(name) == nil)
    try engine.put(name, object)
    try engine.put(name, object)
    #expect(try engine.get(name) == object)
    #expect(code { _ = try engine.append(2, [UInt8](repeating: 0, count: 2 << 20)) } == .tooLarge)

    // 16 and more of the longest, and many short ones.
    let entry = [UInt8](repeating: 1, count: SealedEntry.maximumByteCount)
    for number in UInt64(2)..<22 { #expect(try engine.append(number, entry) == .made) }
    for number in UInt64(22)..<300 { #expect(try engine.append(number, [1]) == .made) }
    #expect(try engine.read(from: 2, limit: 500).map(\.number) == Array(2..<18))
    #expect(try engine.read(from: 18, limit: 500).map(\.number) == Array(18..<300))
    #expect(try engine.read(from: 22, limit: 200).map(\.number) == Array(22..<222))

    // A mailbox goes with its engine.
    let place = try #require(Identifier([UInt8](repeating: 8, count: 16)))
    #expect(code { _ = try server.engine(space: place) } == .missing)
    var other: EtcdEngine?
    do {
      let mailbox = try server.engine(.temporary, space: place)
      #expect(try server.engine(.mailbox, space: place).append(0, [1]) == .made)
      #expect(code { _ = try server.engine(space: place) } == .missing, "a mailbox is no space")
      #expect(try mailbox.read(from: 0, limit: 500).count == 1)
      other = try server.engine(.mailbox, space: place)
      #expect(try other?.read(from: 1, limit: 500) == [])
    }
    #expect(code { _ = try other?.read(from: 1, limit: 500) } == .missing, "the device that made it has ended")
    #expect(code { _ = try server.engine(.mailbox, space: place) } == .missing)
    #expect(try engine.read(from: 400, limit: 500) == [])
    #expect(try engine.read(from: 299, limit: 500).count == 1)
  }

  @Test func entriesAndObjectsAreDeleted() throws {
    let server = try Server()
    let engine = try server.ready()
    for number in UInt64(0)..<12 { #expect(try engine.append(number, [UInt8(number)]) == .made) }
    try engine.deleteEntries([1..<4, 6..<9])
    try engine.deleteEntries([1..<4])
    #expect(try engine.read(from: 0, limit: 500).map(\.number) == [0, 4, 5, 9, 10, 11])
    #expect(try engine.append(3, [3]) == .shorter && engine.append(1, [1]) == .made)
    #expect(try engine.allNames() == [])
    let names = (UInt8(0)..<3).map { ObjectName(of: [$0]) }
    for (byte, name) in zip(UInt8(0)..., names) { try engine.put(name, [byte]) }
    #expect(try engine.names(after: nil) == names.sorted() && engine.names(after: names.sorted()[1]) == [names.sorted()[2]])
    try engine.delete([names[1], names[1]])
    #expect(try engine.allNames() == [names[0], names[2]] && engine.get(names[1]) == nil)
    #expect(try engine.append(12, [12]) == .made)
  }

  @Test func acknowledgedEntriesSurviveTheServer() throws {
    let server = try Server()
    let engine = try server.ready()
    for number in UInt64(0)..<20 { #expect(try engine.append(number, [1]) == .made) }
    server.stop()
    #expect(code { _ = try engine.append(20, [1]) } == .io)
    server.start()
    let other = try server.ready(.existing)
    #expect(try other.read(from: 0, limit: 500).count == 20)
    // The engine from before connects anew.
    #expect(try engine.append(20, [1]) == .made)
    // A stopped server is an error in time.
    let hasty = try server.engine(milliseconds: 1000)
    server.child?.signal(SIGSTOP)
    #expect(code { _ = try hasty.append(21, [1]) } == .io)
    server.child?.signal(SIGCONT)
  }

  @Test func certificatesAreProven() throws {
    let server = try Server()
    _ = try server.ready()
    server.files.authority("foreign")
    server.files.issue("stranger", by: "foreign")
    server.files.issue("late", by: "ca", days: -1)
    server.files.issue("trusting", by: "ca")
    server.files.shell(
      """
      cp foreign/ca.pem trusting/ca.pem; cp -r ada open; chmod 644 open/key.pem; cp -r ada none; rm none/key.pem
      cp -r ada loose; chmod o+w loose/ca.pem
      for name in mixed locked double; do cp -r ada $name; done
      cat late/key.pem >mixed/key.pem; cat ada/cert.pem >double/key.pem
      openssl pkey -in ada/key.pem -aes256 -passout pass:secret -out locked/key.pem
      """)
    let keyError = "the key is not the one of cert.pem, or it has a passphrase: "
    // The code is `io` if the end of the connection overtakes the reason.
    for (user, sentence) in [
      ("stranger", "refuses the certificate of this user"), ("late", "the certificate of this user has expired on 20"),
      ("trusting", "the certificate of the server is refused"), ("open", "others may use"),
      ("none", "key.pem: No such file or directory: ca.pem, cert.pem and key.pem belong there"), ("mixed", keyError),
      ("locked", keyError), ("double", keyError), ("loose", "others may write"),
    ] {
      let detail = detail { _ = try server.engine(as: user) }
      #expect(detail.contains(sentence), "\(user): \(detail)")
    }
  }

  @Test func writersGetEachNumberOnce() async throws {
    let server = try Server()
    _ = try server.ready()
    let (endpoint, certificates) = (server.endpoint, try server.files["ada"])
    let made = try await withThrowingTaskGroup(of: [NumberedEntry].self) { group in
      for writer in UInt8(0)..<4 {
        group.addTask {
          let engine = try EtcdEngine([endpoint], certificates, space: Server.space)
          var (made, next): ([NumberedEntry], UInt64) = ([], 0)
          while made.count < 25 {
            if try engine.append(next, [writer]) == .made { made.append(NumberedEntry(next, [writer])) }
            next += 1
          }
          return made
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    let entries = try server.engine().read(from: 0, limit: 500)
    #expect(entries.count == 100 && made.sorted { $0.number < $1.number } == entries)
  }

  /// The user is the name in the certificate.
  @Test func aRoleIsForThePrefixOfASpace() throws {
    let server = try Server()
    _ = try server.ready().append(0, [0])
    server.files.issue("bob", by: "ca")
    let root = try server.authenticate(["ada", "bob"], may: .readAndWrite)
    try root.grant("ada")
    #expect(try server.engine().append(1, [1]) == .made)
    #expect(try server.engine().read(from: 0, limit: 500).count == 2)
    #expect(code { _ = try server.engine(as: "bob") } == .accessDenied)
    let other = try #require(Identifier([UInt8](repeating: 8, count: 16)))
    #expect(code { _ = try server.engine(.new, space: other) } == .accessDenied)
    #expect(detail { _ = try server.engine(.new, space: other) }.contains("it needs readwrite for coffer/1/: "))
    #expect(detail { _ = try server.engine(.mailbox, as: "bob", space: other) }.contains("readwrite for coffer/1/join/: "))
    let mailbox = try server.engine(.temporary, space: other)
    #expect(try mailbox.append(0, [1]) == .made && server.engine(.mailbox, space: other).read(from: 0, limit: 500).count == 1)

    // The role is taken away while an engine is at work.
    let engine = try server.engine()
    try root.revoke("ada")
    for attempt in [{ _ = try engine.read(from: 0, limit: 500) }, { _ = try engine.append(2, [2]) }] {
      let detail = detail(attempt)
      #expect(detail.contains("the role of this user at the engine does not allow it"), "\(detail)")
      #expect(code(attempt) == .accessDenied)
      #expect(detail.contains("it needs readwrite for coffer/1/\(Server.space)/: "), "\(detail)")
    }
    try root.grant("ada")
    #expect(try engine.read(from: 0, limit: 500).count == 2)
  }

  @Test func aFullServerHasAnErrorOfItsOwn() throws {
    let server = try Server("--quota-backend-bytes", "\(4 << 20)")
    let engine = try server.ready()
    let entry = [UInt8](repeating: 1, count: SealedEntry.maximumByteCount)
    var next: UInt64 = 0
    let failure = code { while next < 50, try engine.append(next, entry) == .made { next += 1 } }
    #expect(failure == .full && next > 0)
    // etcd carries the request out that passes its quota, and refuses it afterwards: only reading shows whether the entry is there.
    // It counts its bytes each 100 ms, so that there may be more than one batch of them.
    var count: UInt64 = 0
    while case let batch = try engine.read(from: count, limit: 500), !batch.isEmpty { count += UInt64(batch.count) }
    #expect(count == next || count == next + 1, "\(count) of \(next)")
  }
}
