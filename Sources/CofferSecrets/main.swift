import Coffer
import CofferFiles
import Glibc
import MessageBus
import SecretService

// coffer-secrets [--replace] [--ready-fd N] | --owner | --reload
//
// Serves the Secret Service, org.freedesktop.secrets, on the session's message bus, from the vault of the agent. It is a separate program,
// so that the process with the keys of the vault is not connected to a message bus. The agent identifies it by its file.
//
// --owner prints the process and the program that serve it, and --reload has the bus read its files of services: for coffer bus.
// --provider does what coffer import secret-service asks over the socket that is standard input, as a client of another program.

let usage = "usage: coffer-secrets [--replace] [--ready-fd N] | --owner | --reload | --provider"

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

/// The path of a process's program; its name, if the kernel hides the path from other programs of the user.
func program(of process: Int32) -> String {
  var path = [CChar](repeating: 0, count: Int(PATH_MAX))
  let count = unsafe readlink("/proc/\(process)/exe", &path, path.count)
  guard count <= 0 else { return String(decoding: path.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) }
  let descriptor = unsafe open("/proc/\(process)/comm", O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return "" }
  defer { close(descriptor) }
  let length = unsafe read(descriptor, &path, path.count)
  return String(decoding: path.prefix(max(0, length)).map { UInt8(bitPattern: $0) }.prefix { $0 != 10 }, as: UTF8.self)
}

func isSocket(_ descriptor: Int32) -> Bool {
  var status = stat()
  return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
}

func isAsked(_ option: String, _ body: (Bus) throws -> Void) throws {
  guard CommandLine.arguments.dropFirst().elementsEqual([option]) else { return }
  try body(try Bus())
  exit(0)
}

Hardening.begin(startsPrograms: true)
ProgramArguments.check()
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
    say(usage, to: STDOUT_FILENO)
    exit(0)
  case "--owner", "--reload", "--provider":
    guard CommandLine.arguments.count == 2 else { fail(usage, Status.usage) }
  default: fail(usage, Status.usage)
  }
}

do {
  try isAsked("--owner") { bus in
    if let process = try bus.owner(of: Service.name) { say("\(process) \(program(of: process))", to: STDOUT_FILENO) }
  }
  try isAsked("--reload") { try $0.readServices() }
  if CommandLine.arguments.last == "--provider" {
    guard isSocket(STDIN_FILENO), let socket = OwnedDescriptor(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)) else {
      fail("--provider: standard input is not a socket", Status.usage)
    }
    Hardening.hide()
    try ProviderBridge(socket).run(program: program(of:))
    exit(0)
  }
  guard let command = ProgramPlaces.program("coffer").first(where: { unsafe access($0, X_OK) == 0 }) else {
    fail("the program coffer is not where it was installed", Status.other)
  }
  let bus = try Bus()
  let visibility = Visibility()
  Hardening.hide()
  let service = Service(bus.outbox, command: command) { try Keychain.connect(visibility: visibility) }
  bus.onCall = { service.receive($0) }
  bus.onPause = { service.begin(mayTake: $0) }
  bus.onDisconnect = { service.forget($0) }
  try bus.serve(Service.roots)
  try bus.follow(Service.portalName)
  guard try bus.request(Service.name, replacing: replaces) else {
    let owner = try bus.owner(of: Service.name).map { "\(program(of: $0)), process \($0)," } ?? "another program"
    fail("\(owner) serves \(Service.name)", Status.inputOutput)
  }
  let keychain = try Keychain.connect(visibility: visibility)
  let options = replaces ? ["--replace"] : []
  ProgramReplacement.watch {
    while !service.isIdle { sleep(1) }
    ProgramReplacement.become(options)
  }
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
