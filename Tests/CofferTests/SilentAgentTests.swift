import CLinux
import CofferFiles
import CofferTesting
import Foundation
import SecretMemory
import Testing
import VaultCore

@testable import Coffer
@testable import CofferRequests
@testable import CofferWire

/// An agent that takes connections and says nothing: one that was stopped, or hangs.
@Suite(.timeLimit(.minutes(60))) final class SilentAgentTests {
  private let directory: URL
  private let listener: Int32

  init() throws {
    directory = FileManager.default.temporaryDirectory.appending(path: "coffer-silent-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    listener = coffer_local_socket()
    try #require(unsafe coffer_local_name(listener, directory.path + "/agent.sock", 1) == 0 && listen(listener, 16) == 0)
  }

  deinit {
    close(listener)
    try? FileManager.default.removeItem(at: directory)
  }

  @Test func nobodyWaitsForEver() throws {
    let transport = AgentTransport(AgentSocket(path: directory.path + "/agent.sock")) { _ in 50 }
    #expect(throws: KeychainError(.agent)) { _ = try transport.status }
    // Whether this was done, nobody knows.
    #expect(throws: KeychainError(.inDoubt)) {
      _ = try transport.answer(
        .remove(Reference(group: try AccessGroup("default"), id: Identifier([UInt8](repeating: 1, count: 16))!)))
    }
  }

  /// Takes the beginning of what each connection sends, and no more, until the listener is shut down.
  private static func takeBeginnings(from listener: Int32) {
    while let connection = OwnedDescriptor(coffer_accept(listener)) {
      let channel = FrameChannel(connection)
      Foundation.Thread.detachNewThread {
        var beginning = [UInt8](repeating: 0, count: 20)
        unsafe _ = recv(channel.descriptor, &beginning, beginning.count, 0)
        // Until the client has gone.
        var entry = pollfd(fd: channel.descriptor, events: 0, revents: 0)
        _ = unsafe poll(&entry, 1, -1)
        withExtendedLifetime(channel) {}
      }
    }
  }

  /// A request that does not fit into the kernel's buffer has not arrived, so the error says that nothing was done.
  @Test func anUnsentRequestIsNotInDoubt() throws {
    let ended = DispatchSemaphore(value: 0)
    Foundation.Thread.detachNewThread { [listener] in
      Self.takeBeginnings(from: listener)
      ended.signal()
    }
    defer {
      shutdown(listener, Int32(SHUT_RDWR))
      ended.wait()
    }
    let transport = AgentTransport(AgentSocket(path: directory.path + "/agent.sock")) { _ in 50 }
    let error = #expect(throws: KeychainError.self) {
      let secret = try Secret(testing: [UInt8](repeating: 1, count: 1 << 20))
      _ = try transport.answer(.add(Item(service: "s", account: "a"), secret, nil, .whenUnlocked, installBound: false))
    }
    #expect(error?.code == .agent && error?.detail == "it takes no request: nothing was done")
  }

  /// Longer than anything that an agent waits for itself.
  @Test func eachRequestHasItsTime() {
    for operation in Request.Kind.allCases {
      #expect(operation.answerMilliseconds >= 60_000, "\(operation)")
    }
    // Four questions, each of which waits for its turn and for its answer.
    #expect(Request.Kind.secret.answerMilliseconds >= 4 * 2 * 60_000)
  }
}
