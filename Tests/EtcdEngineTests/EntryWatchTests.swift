import Children
import CofferFiles
import CofferSync
import Glibc
import SyncEngines
import Synchronization
import Testing
import Waiting

@testable import EtcdEngine

/// The watch of a real server.
@Suite(.serialized, hasServer)
struct EntryWatchTests {
  /// A server that ends, and what it begins with again.
  enum Restart: CaseIterable { case same, older, empty }

  @Test func anEntryOfAnotherIsTold() throws {
    let server = try Server()
    let engine = try server.ready()
    try engine.becomesLive()
    #expect(!engine.isReadable(0))
    let other = try server.engine()
    for (number, count) in zip(UInt64(0)..., [1, 1000, 2000, SealedEntry.maximumByteCount]) {
      #expect(try other.append(number, [UInt8](repeating: 1, count: count)) == .made)
      try engine.tells()
      #expect(engine.beginWaiting(for: number).milliseconds == 60_000)
    }
  }

  /// After a restore the revisions of the cluster begin again at a lower one.
  @Test(arguments: Restart.allCases) func aServerThatComesBackTellsAgain(restart: Restart) throws {
    let server = try Server()
    #expect(try server.ready().append(0, [0]) == .made)
    server.stop()
    server.files.shell("cp -r data older")
    server.start()
    let engine = try server.ready(.existing)
    for number in UInt64(1)..<30 { #expect(try engine.append(number, [1]) == .made) }
    try engine.becomesLive()
    server.stop()
    try engine.tells()
    #expect(engine.beginWaiting(for: 30).milliseconds == 1_000)
    switch restart {
    case .same: break
    case .older: server.files.shell("rm -r data; mv older data")
    case .empty: server.files.shell("rm -r data")
    }
    server.start()
    let other = try server.ready(restart == .empty ? .new : .existing)
    try engine.becomesLive()
    #expect(try other.append([.same: 30, .older: 1, .empty: 0][restart] ?? 0, [1]) == .made)
    try engine.tells()
    #expect(engine.beginWaiting(for: 30).milliseconds == 60_000)
  }

  @Test func aRoleThatReadsIsEnough() throws {
    let server = try Server()
    _ = try server.ready().append(0, [0])
    server.files.issue("bob", by: "ca")
    let root = try server.authenticate(["ada", "bob"], may: .read)
    try root.grant("bob")
    let engine = try server.engine(as: "bob")
    try engine.becomesLive()
    let writer = try server.engine(as: "root")
    #expect(try writer.append(1, [1]) == .made)
    try engine.tells()

    // A watch that is refused ends, and is tried again.
    try root.grant("ada")
    let refused = try server.engine()
    try root.revoke("ada")
    #expect(refused.beginWaiting(for: 0).milliseconds == 1_000)
    let end = try #require(EventNotifier())
    let call = WatchCall {
    } onEntry: {
    }
    let log = Array("coffer/1/\(Server.space)/log".utf8)
    call.run(
      server.endpoint, try server.files["ada"], EtcdConnection.frame(EtcdRequest.watch(log + [0x2F], to: log + [0x30])),
      until: end, connectMilliseconds: 10_000, callMilliseconds: 30_000)
    #expect(!call.hasBegun)
    #expect(refused.beginWaiting(for: 0).milliseconds == 1_000)
    try root.grant("ada")
    try refused.becomesLive()
  }

  /// A member that takes the connection and answers nothing, and one whose certificate is of another host.
  @Test(arguments: ["server", "ada"]) func aMemberThatCannotBeUsedIsPassedOver(certificate: String) throws {
    let server = try Server()
    let other = try server.ready()
    let (endpoint, silent) = server.files.listen(certificate)
    let watch = try #require(
      EtcdWatch(
        [endpoint, server.endpoint], server.files["ada"], EtcdRequest.watch([0], to: [0xFF]),
        connectMilliseconds: 1000, callMilliseconds: 1000))
    try wait(for: "a watch") { watch.isLive }
    watch.clear()
    #expect(try other.append(0, [0]) == .made)
    var entry = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
    #expect(unsafe poll(&entry, 1, 1000 * Int32(longestWait)) == 1)
    withExtendedLifetime(silent) {}
  }

  /// The object waits for its thread, in each state that this has.
  @Test func theThreadEndsWithTheObject() throws {
    let server = try Server()
    do {
      let engine = try server.ready()
      try engine.becomesLive()
      #expect(server.connections.count == 2)
    }
    #expect(server.connections.isEmpty)
    for _ in 0..<20 { _ = try server.engine().beginWaiting(for: 0) }
    let engine = try server.engine()
    try engine.becomesLive()
    server.stop()
    try engine.tells()
  }

  @Test func anOwnerWaitsForItsThread() throws {
    final class Flag: Sendable { let isSet = Atomic(false) }
    let (flag, end) = (Flag(), try #require(EventNotifier()))
    var thread = JoinedThread("coffer-test") {
      _ = end.wait()
      usleep(200_000)
      flag.isSet.store(true, ordering: .releasing)
    }
    #expect(thread != nil)
    end.call()
    thread = nil
    let isSet = flag.isSet.load(ordering: .acquiring)
    #expect(isSet)
  }

  /// The kernel asks a machine that is silent for an answer.
  @Test func aDeadMachineEndsTheWatch() throws {
    let server = try Server()
    let engine = try server.ready()
    try engine.becomesLive()
    // The timer is the one of keepalive.
    try wait(for: "keepalive") { server.connections.contains { $0.timer == "02" } }
  }

  /// `coffer sync watch` becomes another program after an upgrade.
  @Test func connectionsEndWithTheProgram() throws {
    let server = try Server()
    let engine = try server.ready()
    try engine.becomesLive()
    #expect(server.connections.map { fcntl($0.descriptor, F_GETFD) } == [FD_CLOEXEC, FD_CLOEXEC])
  }
}

extension EtcdEngine {
  func isReadable(_ milliseconds: Int32) -> Bool {
    var entry = pollfd(fd: beginWaiting(for: 0).descriptor ?? -1, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&entry, 1, milliseconds) == 1
  }

  /// Waits for a sign, and drops it.
  func tells() throws {
    guard isReadable(1000 * Int32(longestWait)) else { throw NeverCame(description: "a sign") }
    clearSign()
  }

  func becomesLive() throws {
    repeat { try tells() } while beginWaiting(for: 0).milliseconds == 1_000
  }
}

extension Server {
  /// The connections of this process to the server, with what the kernel's timer for each is for.
  var connections: [(descriptor: Int32, timer: String)] {
    guard let port = UInt16(endpoint.drop { $0 != ":" }.dropFirst()) else { return [] }
    let digits = String(port, radix: 16, uppercase: true)
    let address = ":\(String(repeating: "0", count: 4 - digits.count))\(digits)"
    // The server itself has one, too.
    let own = run("ls", "-l", "/proc/\(getpid())/fd").map { $0.split(separator: " ") }
    return run("cat", "/proc/net/tcp").compactMap { line in
      let fields = line.split(separator: " ")
      guard fields.count > 9, fields[2].hasSuffix(address), let link = own.first(where: { $0.last == "socket:[\(fields[9])]" }),
        let descriptor = Int32(link[link.count - 3])
      else { return nil }
      return (descriptor, String(fields[5].prefix(2)))
    }
  }
}
