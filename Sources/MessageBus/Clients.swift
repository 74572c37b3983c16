import CLinux
import CSystemd
import CofferFiles
import Glibc

/// The process of a client of the bus.
package struct ClientProcess: Equatable, Sendable {
  package let number: Int32
  /// As `ProcessStart` has it.
  package let start: UInt64
}

/// Asks the daemon which processes the clients are, without waiting: the calls of a client wait until the answer is there. For the thread
/// of the bus.
final class Clients {
  /// The process is nil if it is not known.
  typealias Answer = Result<ClientProcess?, BusError>

  private enum State {
    case asked([(Answer) -> Void])
    case known(Answer)
  }

  /// Calls of one client that wait for the answer.
  private static let maximumWaiting = 64
  private static let answerMicroseconds: UInt64 = 5_000_000

  private let isOfSystem: Bool
  private var states: [String: State] = [:]
  /// When clients came, of those that came after this program.
  private var arrivals: [String: UInt64] = [:]
  private let ask: (String, @escaping (Credentials?) -> Void) -> Void

  /// - Parameters:
  ///   - isOfSystem: As `BusDaemon` has found it.
  ///   - ask: Asks for the credentials of a client; nil if the daemon does not answer.
  init(isOfSystem: Bool, ask: @escaping (String, @escaping (Credentials?) -> Void) -> Void) {
    (self.isOfSystem, self.ask) = (isOfSystem, ask)
  }

  struct Credentials: Equatable {
    var user: UInt32?
    var process: Int32?
  }

  func hasCome(_ name: String) { arrivals[name] = ProcessStart.now() }

  func hasGone(_ name: String) {
    arrivals[name] = nil
    answer(name, .success(nil))
    states[name] = nil
  }

  /// Calls the body at once, or when the daemon has answered.
  func identify(_ name: String, _ body: @escaping (Answer) -> Void) {
    switch states[name] {
    case .known(let answer)?: body(answer)
    case .asked(let bodies)?:
      guard bodies.count < Self.maximumWaiting else { return body(.failure(.limitsExceeded("too many calls"))) }
      states[name] = .asked(bodies + [body])
    case nil:
      states[name] = .asked([body])
      ask(name) { [self] in pin($0, name) }
    }
  }

  /// The same answer after the process was pinned is about that process: the client would be gone with it.
  private func pin(_ credentials: Credentials?, _ name: String) {
    guard let credentials, credentials.user == geteuid() else {
      return answer(name, .failure(.accessDenied("only programs of the user are served")))
    }
    guard isOfSystem, let process = credentials.process, process > 0,
      let pinned = OwnedDescriptor(coffer_pidfd_open(process)), let start = ProcessStart.ticks(of: process),
      // The process that has come has left the connection to another one, and its number was given away.
      start <= arrivals[name] ?? .max
    else { return answer(name, .success(nil)) }
    ask(name) { [self] again in
      let isSame = again == credentials && BusDaemon.isAlive(pinned)
      answer(name, .success(isSame ? ClientProcess(number: process, start: start) : nil))
    }
  }

  private func answer(_ name: String, _ answer: Answer) {
    guard case .asked(let bodies)? = states[name] else { return }
    states[name] = .known(answer)
    for body in bodies { body(answer) }
  }

  // MARK: The question

  private final class Question {
    let body: (Credentials?) -> Void
    init(_ body: @escaping (Credentials?) -> Void) { self.body = body }
  }

  /// Sends the question; the body is called on the thread of the bus.
  static func ask(_ bus: OpaquePointer, _ name: String, _ body: @escaping (Credentials?) -> Void) {
    var pointer: OpaquePointer?
    let member = "GetConnectionCredentials"
    guard unsafe sd_bus_message_new_method_call(bus, &pointer, Bus.daemon, "/org/freedesktop/DBus", Bus.daemon, member) >= 0,
      let pointer = unsafe pointer
    else { return body(nil) }
    let message = unsafe Message(owning: pointer)
    guard (try? message.append([.text(name)])) != nil else { return body(nil) }
    let question = unsafe Unmanaged.passRetained(Question(body))
    let result = unsafe sd_bus_call_async(
      bus, nil, message.pointer,
      { message, object, _ in
        guard let message = unsafe message, let object = unsafe object else { return 0 }
        let question = unsafe Unmanaged<Question>.fromOpaque(object).takeRetainedValue()
        question.body(unsafe Message(message).credentials())
        return 0
      }, question.toOpaque(), answerMicroseconds)
    guard result < 0 else { return }
    unsafe question.release()
    body(nil)
  }
}

extension Message {
  /// The answer to GetConnectionCredentials; nil if it is an error.
  fileprivate func credentials() -> Clients.Credentials? {
    guard unsafe sd_bus_message_is_method_error(pointer, nil) == 0,
      unsafe sd_bus_message_enter_container(pointer, CChar(UInt8(ascii: "a")), "{sv}") > 0
    else { return nil }
    var credentials = Clients.Credentials()
    while unsafe sd_bus_message_enter_container(pointer, CChar(UInt8(ascii: "e")), "sv") > 0 {
      var name: UnsafePointer<CChar>?
      guard unsafe sd_bus_message_read_basic(pointer, CChar(UInt8(ascii: "s")), &name) > 0 else { return nil }
      switch unsafe Self.text(name) {
      case "UnixUserID": credentials.user = variant()
      case "ProcessID": credentials.process = variant().flatMap { Int32(exactly: $0) }
      default: guard unsafe sd_bus_message_skip(pointer, "v") >= 0 else { return nil }
      }
      guard unsafe sd_bus_message_exit_container(pointer) >= 0 else { return nil }
    }
    return credentials
  }

  private func variant() -> UInt32? {
    var number: UInt32 = 0
    guard unsafe sd_bus_message_enter_container(pointer, CChar(UInt8(ascii: "v")), "u") > 0,
      unsafe sd_bus_message_read_basic(pointer, CChar(UInt8(ascii: "u")), &number) > 0,
      unsafe sd_bus_message_exit_container(pointer) >= 0
    else { return nil }
    return number
  }
}
