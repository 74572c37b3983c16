import CofferFiles
import Glibc
import Testing

@testable import MessageBus

/// The processes of clients, by what the daemon answers.
@Suite struct BusClientsTests {
  private static let name = ":1.1"
  private static let own = Clients.Credentials(user: geteuid(), process: getpid())

  /// - Parameter second: The answer of the daemon when the process is known.
  private func client(
    _ first: Clients.Credentials?, isOfSystem: Bool = true, hasCome: Bool = false, second: () -> Clients.Credentials?
  ) throws -> ClientProcess? {
    var count = 0
    return try withoutActuallyEscaping(second) { second in
      let clients = Clients(isOfSystem: isOfSystem) { _, body in
        count += 1
        body(count == 1 ? first : second())
      }
      if hasCome { clients.hasCome(Self.name) }
      var found: Clients.Answer?
      clients.identify(Self.name) { found = $0 }
      return try #require(found).get()
    }
  }

  private func sleeping() throws -> pid_t {
    var process: pid_t = 0
    var name = Array("sleep\0".utf8CString)
    var time = Array("600\0".utf8CString)
    let result = unsafe name.withUnsafeMutableBufferPointer { name in
      unsafe time.withUnsafeMutableBufferPointer { time in
        unsafe posix_spawn(&process, "/bin/sleep", nil, nil, [name.baseAddress, time.baseAddress, nil], nil)
      }
    }
    try #require(result == 0)
    return process
  }

  private func end(_ process: pid_t) {
    kill(process, SIGKILL)
    waitpid(process, nil, 0)
  }

  @Test func aProcessThatRunsIsKnown() throws {
    let found = try client(Self.own, hasCome: true) { Self.own }
    #expect(found?.number == getpid() && found?.start == ProcessStart.ticks(of: getpid()))
    #expect(try client(Self.own, isOfSystem: false) { Self.own } == nil)
    #expect(try client(.init(user: geteuid(), process: nil)) { .init(user: geteuid(), process: nil) } == nil)
  }

  @Test func anotherUserIsRefused() {
    for credentials in [nil, .init(user: geteuid() + 1, process: getpid()), .init(user: nil, process: getpid())]
      as [Clients.Credentials?]
    {
      #expect(throws: BusError.self) { _ = try client(credentials) { credentials } }
    }
  }

  /// Its number may be another one's by now.
  @Test func aProcessThatHasEndedIsNotKnown() throws {
    let process = try sleeping()
    let credentials = Clients.Credentials(user: geteuid(), process: process)
    let found = try client(credentials) {
      end(process)
      return credentials
    }
    #expect(found == nil)
    #expect(try client(credentials) { credentials } == nil)
  }

  @Test func theDaemonNamesItTwice() throws {
    #expect(try client(Self.own) { nil } == nil)
    #expect(try client(Self.own) { .init(user: geteuid(), process: getppid()) } == nil)
  }

  /// The client has left its connection to another process, and ended.
  @Test func aProcessThatBeganAfterTheClientCameIsAnotherOne() throws {
    var process: pid_t = 0
    defer { end(process) }
    let clients = Clients(isOfSystem: true) { _, body in body(.init(user: geteuid(), process: process)) }
    clients.hasCome(Self.name)
    let arrival = ProcessStart.now()
    while ProcessStart.now() <= arrival { usleep(1000) }
    process = try sleeping()
    var found: Clients.Answer?
    clients.identify(Self.name) { found = $0 }
    #expect(try #require(found).get() == nil)
  }

  @Test func aClientThatHasGoneIsForgotten() throws {
    var (count, answered) = (0, 0)
    let clients = Clients(isOfSystem: true) { _, body in
      count += 1
      body(Self.own)
    }
    for _ in 0..<2 { clients.identify(Self.name) { _ in answered += 1 } }
    #expect(count == 2 && answered == 2)
    clients.hasGone(Self.name)
    clients.identify(Self.name) { _ in answered += 1 }
    #expect(count == 4 && answered == 3)
  }
}
