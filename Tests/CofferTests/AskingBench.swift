import AccessRights
import CofferTesting
import FakePinentry
import Foundation
import Pinentry
import Synchronization
import Testing
import Waiting

@testable import Coffer
@testable import CofferAgent

/// An agent that asks, an owner who answers by a file, and a clock that the test sets.
final class AskingBench: Sendable {
  /// Milliseconds.
  final class Clock: Sendable {
    private let time = Mutex<Int64>(1_000_000)
    var now: Int64 { time.withLock { $0 } }
    func advance(_ milliseconds: Int64) { time.withLock { $0 += milliseconds } }
  }

  /// The entries of the log, and whether it can be written.
  final class Log: Sendable {
    struct Full: Error {}
    private let state = Mutex<(events: [String], refuses: String?)>(([], nil))
    func append(_ event: OwnerQuestions.Event) throws {
      try state.withLock { state in
        let text = "\(event.outcome)"
        if state.refuses.map(text.hasPrefix) ?? false { throw Full() }
        state.events.append(text)
      }
    }
    var events: [String] { state.withLock { $0.events } }
    func refuse(_ prefix: String) { state.withLock { $0.refuses = prefix } }
  }

  static let once = "D yes\nOK"
  static let lease = "D longer\nOK"
  static let refusal = "ERR 83886179 Operation cancelled"
  static let nobody = "ERR 83886142 Timeout"
  /// Until another answer is there.
  static let later = "later"

  let clock = Clock()
  let log = Log()
  let identity = Identity()
  let fake: FakePinentry
  private let questions: OwnerQuestions
  let agent: AgentBench
  let keychain: Keychain

  /// - Parameters:
  ///   - app: The identity of the clients.
  ///   - display: Where the agent was started. Nil: nowhere.
  init(_ store: TurnStore, _ app: SignedManifest, minutes: Int = 5, display: String? = ":7") throws {
    fake = try FakePinentry(
      """
      def answer():
          while True:
              text = open(directory + '/answer').read()
              if text != 'later': return text
              time.sleep(0.005)
      serve({'GETPIN': answer})
      """)
    let (fake, clock, log) = (fake, clock, log)
    let questions = OwnerQuestions(
      vault: "/home/ada/vault.coffer", minutes: minutes, display: Display(environment: { $0 == "DISPLAY" ? display : nil }),
      pinentry: { () throws(PinentryError) in try fake.program() },
      clock: { clock.now }, log: { try log.append($0) })
    let identity = identity
    self.questions = questions
    agent = try AgentBench(store, app, questions: questions) { identity.now(app) }
    keychain = agent.keychain
  }

  /// The identity that clients get.
  final class Identity: Sendable {
    private let other = Mutex<ProgramIdentity?>(nil)
    func now(_ app: SignedManifest) -> ProgramIdentity {
      other.withLock { $0 } ?? .app(app.manifest.applicationIdentifier)
    }
    func become(_ program: ProgramIdentity) { other.withLock { $0 = program } }
  }
  deinit { fake.remove() }

  func answer(_ text: String) throws { try fake.write(text, to: "answer") }

  /// How often somebody was asked.
  var questionCount: Int { fake.told.count { $0 == "GETPIN" } }

  func waitForQuestions(_ count: Int) {
    do { try wait(for: "\(count) questions") { questionCount >= count } } catch { Issue.record(error) }
  }

  /// The number of questions in the queue.
  func waitForWaiting(_ count: Int) {
    do { try wait(for: "\(count) wait") { questions.queue.waitingCount == count } } catch { Issue.record(error) }
  }

  /// The last text of a kind that was shown.
  func shown(_ command: String) -> String? {
    fake.told.last { $0.hasPrefix("\(command) ") }.map { String($0.dropFirst(command.count + 1)) }
  }
}
