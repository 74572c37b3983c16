import AccessRights
import CofferAgent
import CofferFiles
import CofferTesting
import CofferWire
import FakePinentry
import Foundation
import SecretMemory
import Testing
import VaultCore
import Waiting

@testable import Coffer

/// Events while a question is open.
@Suite(.timeLimit(.minutes(60))) struct OpenQuestionTests {
  let teams: Teams
  let bench: AskingBench
  let reference: Reference
  let application: String

  init() throws {
    teams = try Teams()
    reference = try teams.keychain(teams.editor).add(Item(service: "mail", account: "ada"), secret: Secret(testing: "one"))
    application = teams.stranger.manifest.applicationIdentifier
    bench = try AskingBench(teams.store, teams.stranger)
    var vault = try Vault.openThrowAway(teams.store)
    try vault.transaction { try $0.put(Grant(to: application, reference.group, .all, asksForConfirmation: true, at: .test)) }
    try bench.answer(AskingBench.later)
  }

  /// A client in a thread of its own.
  final class Client: @unchecked Sendable {
    private let done = DispatchSemaphore(value: 0)
    private var code: KeychainError.Code?
    private var text: String?

    init(_ keychain: Keychain, _ reference: Reference) {
      Foundation.Thread.detachNewThread { [self] in
        code = KeychainTests.code { text = try KeychainTests.text(keychain.secret(of: reference)) }
        done.signal()
      }
    }

    /// The answer: a secret or an error.
    var result: String {
      done.wait()
      done.signal()
      return text ?? code?.name ?? "nothing"
    }
  }

  private func client() -> Client { Client(bench.agent.keychain, reference) }

  private func opened() -> Client {
    let client = client()
    bench.waitForQuestions(1)
    return client
  }

  @Test func othersUseTheVaultMeanwhile() throws {
    let client = opened()
    #expect(try bench.keychain.items().map(\.reference) == [reference])
    let own = try bench.keychain.add(Item(service: "own", account: ""), secret: Secret(testing: "own"))
    #expect(try KeychainTests.text(bench.keychain.secret(of: own)) == "own")
    try bench.answer(AskingBench.once)
    #expect(client.result == "one")
  }

  @Test func aLockDuringAQuestionHolds() throws {
    let client = opened()
    try bench.keychain.lock()
    try bench.answer(AskingBench.lease)
    #expect(client.result == "locked")
    // And what was agreed to before counts no more when it is open again.
    try bench.agent.vault.unlock(.throwAway())
    try bench.answer(AskingBench.refusal)
    bench.clock.advance(1)
    #expect(self.client().result == "confirmationRefused")
  }

  /// An agreement from before a lock is none afterwards, also for the call that was waiting.
  @Test func lockedAndUnlockedMeanwhileIsAskedAgain() throws {
    let client = opened()
    try bench.keychain.lock()
    try bench.agent.vault.unlock(.throwAway())
    try bench.answer(AskingBench.once)
    #expect(client.result == "one")
    #expect(bench.questionCount == 2)
  }

  @Test func aGrantThatIsTakenBackMeanwhileIsGone() throws {
    let client = opened()
    var vault = try Vault.openThrowAway(teams.store)
    try vault.transaction { try $0.removeGrant(to: application, reference.group) }
    try bench.answer(AskingBench.once)
    #expect(client.result == "missingEntitlement")
  }

  @Test func anItemThatChangesMeanwhileIsAskedAboutAgain() throws {
    let client = opened()
    try teams.owner.update(reference, secret: Secret(testing: "two"))
    try bench.answer(AskingBench.once)
    #expect(client.result == "two")
    #expect(bench.questionCount == 2)
  }

  @Test func aProgramThatBecomesAnotherGetsNothing() throws {
    let client = opened()
    bench.identity.become(.app(teams.viewer.manifest.applicationIdentifier))
    try bench.answer(AskingBench.once)
    #expect(client.result == "confirmationNeeded")
  }

  @Test func aClientThatHasGoneIsNotAnswered() throws {
    let connection = try connect()
    try ask(on: connection)
    bench.waitForQuestions(1)
    connection.shutDown()
    try wait(for: "the question is withdrawn: \(bench.log.events)") {
      bench.log.events.last == "refused(\"no answer: the program that asked has gone\")"
    }
    #expect(bench.fake.isGone)
    // And who comes again at once does not interrupt the owner again.
    #expect(client().result == "confirmationNeeded")
    #expect(bench.questionCount == 1)
  }

  private func connect() throws -> FrameChannel {
    guard let descriptor = OwnedDescriptor(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)),
      bench.agent.connect(descriptor.number)
    else { throw POSIXError(.ECONNREFUSED) }
    let channel = FrameChannel(descriptor)
    // The first request is challenged; the one that follows the response is not.
    try ask(on: channel)
    guard var frame = try channel.receive(), let message = frame.message.take() else { throw FrameChannel.Failure.closed }
    try channel.answer(Challenge(message))
    return channel
  }

  private func ask(on connection: FrameChannel) throws {
    try connection.send(try Request.items(.secret(reference, purpose: "")).frame(request: 1))
  }

  // MARK: Several

  @Test func oneQuestionAtATime() throws {
    let first = opened()
    let second = client()
    bench.waitForWaiting(1)
    #expect(bench.questionCount == 1)
    try bench.answer(AskingBench.lease)
    // The lease answers the other one too.
    #expect(first.result == "one" && second.result == "one")
    #expect(bench.questionCount == 1)
  }

  @Test func theQueueOfAProgramIsBounded() throws {
    let first = opened()
    let waiting = (0..<4).map { _ in client() }
    bench.waitForWaiting(4)
    #expect(client().result == "confirmationNeeded")
    #expect(bench.log.events.last == "notAsked(\"not asked: full\")")
    try bench.answer(AskingBench.refusal)
    for client in [first] + waiting { #expect(client.result == "confirmationRefused") }
    #expect(bench.questionCount == 1)
  }

  @Test func aClientThatHasGoneLeavesTheQueue() throws {
    let first = opened()
    let connection = try connect()
    try ask(on: connection)
    bench.waitForWaiting(1)
    connection.shutDown()
    bench.waitForWaiting(0)
    try bench.answer(AskingBench.once)
    #expect(first.result == "one")
    #expect(client().result == "one")
    #expect(bench.questionCount == 2)
  }

  // MARK: The log

  @Test(arguments: ["asked", "allowed", "refused"]) func aRequestThatCannotBeLoggedIsRefused(_ what: String) throws {
    bench.log.refuse(what)
    try bench.answer(what == "refused" ? AskingBench.refusal : AskingBench.lease)
    #expect(client().result == "storage")
    #expect(bench.questionCount == (what == "asked" ? 0 : 1))
    // Nor is it done later, by what was not logged. The owner has refused all the same, and that nobody is asked again is logged.
    #expect(client().result == (what == "refused" ? "confirmationRefused" : "storage"))
  }
}
