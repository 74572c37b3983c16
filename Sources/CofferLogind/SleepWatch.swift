import CLinux
import Coffer
import Glibc

/// What happens when logind says something.
final class SleepWatch {
  private let bus: SystemBus
  private let keychain: Keychain
  /// A connection that says nothing: its end is the agent's.
  private let connection: Int32
  private let user: UInt32
  private var inhibitor: Int32 = -1

  struct Failure: Error {
    let what: String
  }

  init(socket: String, user: UInt32) throws {
    self.user = user
    keychain = try Keychain.connect(toAgentAt: socket)
    connection = coffer_local_socket()
    guard connection >= 0, unsafe coffer_local_name(connection, socket, 0) == 0 else {
      throw Failure(what: "no agent: \(socket)")
    }
    bus = try SystemBus()
  }

  deinit { close(connection) }

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
    while try !bus.wait(with: connection) {}
  }

  private func lock() { try? keychain.lock() }

  /// Without it the machine may sleep before the keys are gone, and they are forgotten when it wakes.
  private func delaySleep() { if inhibitor < 0 { inhibitor = (try? bus.delaySleep()) ?? -1 } }

  private func allowSleep() {
    guard inhibitor >= 0 else { return }
    close(inhibitor)
    inhibitor = -1
  }
}
