import AppContainers
import CLinux
import CofferFiles
import CofferLifecycle
import CofferRequests
import CofferStorage
import CofferTesting
import Foundation
import SecretMemory
import Testing
import VaultCore
import Waiting

@testable import CofferAgent
@testable import CofferWire

/// A rotation that an agent carries out, while it serves other clients.
@Suite struct RotationSessionTests {
  private final class Ended: @unchecked Sendable {
    private let lock = NSLock()
    private var result: Result<RotationOutcome, any Error>?
    var value: Result<RotationOutcome, any Error>? { lock.withLock { result } }
    func end(_ result: Result<RotationOutcome, any Error>) { lock.withLock { self.result = result } }
  }

  /// Another process has the writers' lock, so that the commit of the master key waits. A client of the agent is refused meanwhile, and does
  /// not wait; before and after it is served.
  @Test func clientsAreRefusedDuringTheCommitOfTheMasterKey() throws {
    let bench = try AgentBench()
    try bench.unlock()
    let places = Places(in: bench.directory.path + "/data")
    let administration = VaultAdministration(bench.vault, places, bench.data)
    var pair: [Int32] = [-1, -1]
    try #require(unsafe coffer_local_pair(&pair) == 0)
    let client = FrameChannel(OwnedDescriptor(pair[0])!)
    let agentEnd = pair[1]
    let ended = Ended()
    Foundation.Thread.detachNewThread {
      ended.end(
        Result {
          try administration.rotate(
            RotationOrder(), by: .throwAway(), UpkeepSession(FrameChannel(OwnedDescriptor(agentEnd)!), 7), {})
        })
    }
    /// Answers the next question.
    func answer(_ kind: UpkeepQuestion.Kind, _ reply: consuming UpkeepReply) throws {
      while true {
        var frame = try client.receive()!
        guard frame.header.kind == .question else { continue }
        #expect(try UpkeepQuestion(frame.message.take()!).kind == kind)
        return try client.send(reply, request: 7)
      }
    }
    func isRefused() -> Bool {
      do {
        return try bench.vault.use { _ in false }
      } catch {
        return (error as? KeychainError)?.cause == .storage(.maintenance)
      }
    }
    let lockCount = bench.vault.lockCount
    try answer(.agreement, .yes)
    let new = try Credential.derived(.random(count: 32), .keyFile, salt: [UInt8](repeating: 1, count: 16))
    try answer(.credential, .credentials(present: nil, new: new))
    #expect(!isRefused())
    let writer = try FileStore(at: bench.vault.path)
    // Without a change: only the lock is held.
    try writer.commit { _ in
      try answer(.shown, .yes)
      try wait(for: "the commit") { isRefused() || ended.value != nil }
      #expect(isRefused() && ended.value == nil)
      return Change()
    }
    try wait(for: "the end") { ended.value != nil }
    #expect(try #require(ended.value).get().masterEpoch == 2)
    // Sessions that were proven before have ended, though no client has asked since.
    #expect(bench.vault.lockCount == lockCount + 1 && bench.vault.status.isLocked)
    #expect(!isRefused())
  }
}
