import Coffer
import CofferFiles
import Glibc
import MessageBus
import SecretService

// coffer-secrets [--replace] [--ready-fd N]
//
// Serves the Secret Service, org.freedesktop.secrets, on the session's message bus, from the vault of the agent. It is a separate program,
// so that the process with the keys of the vault is not connected to a message bus. The agent identifies it by its file.

/// The exit codes of coffer(1).
enum Status {
  static let other: Int32 = 1
  static let usage: Int32 = 2
  static let inputOutput: Int32 = 12
}

func say(_ line: String, to descriptor: Int32 = STDERR_FILENO) {
  let bytes = Array("\(line)\n".utf8)
  _ = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
}

func fail(_ message: String, _ status: Int32) -> Never {
  say("coffer-secrets: \(message)")
  exit(status)
}

Hardening.begin(startsPrograms: true)
var replaces = false
var ready: Int32?
var words = CommandLine.arguments.dropFirst()
while let word = words.popFirst() {
  switch word {
  case "--replace": replaces = true
  case "--ready-fd":
    guard let number = words.popFirst().flatMap({ Int32($0) }), number >= 0, fcntl(number, F_GETFD) >= 0 else {
      fail("--ready-fd: takes the number of an open descriptor", Status.usage)
    }
    ready = number
  case "--help":
    say("usage: coffer-secrets [--replace] [--ready-fd N]", to: STDOUT_FILENO)
    exit(0)
  default: fail("usage: coffer-secrets [--replace] [--ready-fd N]", Status.usage)
  }
}

do {
  guard let command = ProgramPlaces.program("coffer").first(where: { unsafe access($0, X_OK) == 0 }) else {
    fail("the program coffer is not where it was installed", Status.other)
  }
  let bus = try Bus()
  let service = Service(bus.outbox, command: command) { try Keychain.connect() }
  bus.onCall = { service.receive($0) }
  bus.onDisconnect = { service.forget($0) }
  try bus.serve(Service.root)
  guard try bus.request(Service.name, replacing: replaces) else {
    fail("another program serves \(Service.name); `busctl --user status \(Service.name)` names it", Status.inputOutput)
  }
  let keychain = try Keychain.connect()
  let follower = Task.detached { await service.follow(keychain) }
  if let ready {
    say("ready", to: ready)
    if ready > STDERR_FILENO { close(ready) }
  }
  try bus.run()
  follower.cancel()
} catch let error as Bus.Failure {
  fail("\(error.what): \(ErrorNumber.text(of: error.number))", Status.inputOutput)
} catch {
  fail("\(error)", Status.other)
}
