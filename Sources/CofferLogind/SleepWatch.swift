import CLinux
import Coffer
import CofferFiles
import Glibc

/// Locks the agent on logind's signals.
final class SleepWatch {
  private let bus: SystemBus
  private let keychain: Keychain
  /// A connection without requests: it closes when the agent ends.
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

  /// Runs until the agent ends.
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
      // If the user of the session cannot be found out, lock: locking once too often does no harm.
      guard (try? bus.user(ofSession: path)) ?? user == user else { return }
      lock()
    }
    try bus.subscribe()
    delaySleep()
    while try !bus.wait(with: connection.number) {}
  }

  private func lock() { try? keychain.lock() }

  /// Delays sleep, so that the agent locks before the machine sleeps. Without it the agent might lock only after waking.
  private func delaySleep() { if inhibitor == nil { inhibitor = (try? bus.delaySleep()).flatMap { OwnedDescriptor($0) } } }

  private func allowSleep() { inhibitor = nil }
}
