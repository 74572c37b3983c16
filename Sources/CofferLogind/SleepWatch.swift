import CLinux
import Coffer
import Glibc
import SystemCalls

/// What happens when logind says something.
final class SleepWatch {
  private let bus: SystemBus
  private let keychain: Keychain
  /// A connection that says nothing: its end is the agent's.
  private let connection: OwnedDescriptor
  private let user: UInt32
  private var inhibitor: OwnedDescriptor?

  struct Failure: Error {
    let what: String
  }

  init(socket: String, user: UInt32) throws {
    self.user = user
    keychain = try Keychain.connect(toAgentAt: socket)
    guard let connection = OwnedDescriptor(coffer_local_socket()), unsafe coffer_local_name(connection.number, socket, 0) == 0
    else { throw Failure(what: "no agent: \(socket)") }
    self.connection = connection
    bus = try SystemBus()
  }

  /// Until the agent ends.
  func run() throws {
    bus.onSleep = { [unowned self] isBeginning in
      if isBeginning {
        lock()
        allowSleep()
      } else {
        delaySleep()
      }
    }
    bus.onLock = { [unowned self] path in
      // Whose session it is cannot be found out: rather once too often.
      guard (try? bus.user(ofSession: path)) ?? user == user else { return }
      lock()
    }
    try bus.subscribe()
    delaySleep()
    while try !bus.wait(with: connection.number) {}
  }

  private func lock() { try? keychain.lock() }

  /// Without it the machine may sleep before the keys are gone, and they are forgotten when it wakes.
  private func delaySleep() { if inhibitor == nil { inhibitor = (try? bus.delaySleep()).flatMap { OwnedDescriptor($0) } } }

  private func allowSleep() { inhibitor = nil }
}
