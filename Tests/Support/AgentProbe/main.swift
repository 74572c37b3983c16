import CLinux
// A client of the agent that does what no client should. Arguments: what to do, the socket, and a command that gets the connection as
// descriptor 3.
//
//     once SOCKET             asks for its items, and says how it went: "done" or the code of the error
//     exec SOCKET COMMAND…    the same, then becomes the command
//     spawn SOCKET COMMAND…   the same, then starts the command and waits for it
//     twice SOCKET COMMAND…   as spawn, and then asks again
//     for SOCKET              as once, in the name of the program that has started it
//     hidden SOCKET           as once, after it has made itself unreadable to other processes of its user
//     relay SOCKET            takes connections from descriptor 0, and passes on what comes to the agent, and back
//     leave SOCKET COMMAND…   connects, starts the command, and ends
//     hold SOCKET COUNT       so many connections, each of which asks for the status; says how many were answered, and holds them until
//                             its standard input ends
//     announce SOCKET COUNT   so many connections, each of which announces a large item and sends no more of it; says so, and holds them
//                             until its standard input ends
//     guess SOCKET COUNT      guesses at the key of a passphrase over so many connections, again and again; says "guessing" when each has sent a
//                             guess, and how many were refused when its standard input ends
//     copy                    copies its standard input to its standard output, as a filter does
//     challenged SOCKET COMMAND…
//                             asks for its items, says what comes, and becomes the command, with the number as its last argument
//     await SOCKET            says so, and waits for a child that it has from the program that it was before
//     watch SOCKET COMMAND…   watches, says so, and becomes the command; without one says what it is told next
import CofferFiles
import CofferRequests
import CofferWire
import Glibc
import SecretMemory
import VaultCore

// A probe that its test has left ends. A test that waits for a thread on a busy machine may take as long as its time limit.
alarm(3600)

func say(_ text: String) { unsafe _ = Array("\(text)\n".utf8).withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) } }

func ask(_ channel: FrameChannel) -> String {
  ask(channel) { try Request.items(.items(nil, nil, Attributes())).frame(request: 1) }
}

func ask(_ channel: FrameChannel, _ request: () throws -> Secret) -> String {
  do {
    try channel.send(request())
    guard var frame = try channel.receive(), let message = frame.message.take() else { return "closed" }
    guard frame.header.kind == .challenge else {
      return frame.header.kind == .failed ? try message.failure().code.name : "\(frame.header.kind)"
    }
    try channel.answer(Challenge(message))
    try channel.send(request())
  } catch {
    return "\(error)"
  }
  return next(channel)
}

func next(_ channel: FrameChannel) -> String {
  do {
    guard var frame = try channel.receive(), let message = frame.message.take() else { return "closed" }
    return frame.header.kind == .failed ? try message.failure().code.name : "\(frame.header.kind)"
  } catch {
    return "\(error)"
  }
}

func watch(_ channel: FrameChannel) -> String { ask(channel) { try Request.session(.watch).frame(request: 7) } }

func copy() -> Never {
  var buffer = [UInt8](repeating: 0, count: 4096)
  while true {
    let count = unsafe read(0, &buffer, buffer.count)
    guard count > 0 else { exit(0) }
    unsafe _ = write(1, buffer, count)
  }
}

func hold(_ path: String, _ count: Int) -> Int {
  let channels = (0..<count).compactMap { _ -> FrameChannel? in
    guard let socket = OwnedDescriptor(coffer_local_socket()) else { return nil }
    unsafe _ = coffer_local_name(socket.number, path, 0)
    return FrameChannel(socket)
  }
  let answered = channels.count { channel in
    (try? channel.send(try Request.session(.status).frame(request: 1))) != nil && next(channel) == "done"
  }
  say("\(answered)")
  var byte: UInt8 = 0
  while unsafe read(0, &byte, 1) > 0 {}
  return channels.count
}

func announce(_ path: String, _ count: Int, _ operation: Request.Kind) {
  let sockets = (0..<count).map { _ in
    let socket = coffer_local_socket()
    let begun = FrameHeader(.request(operation), request: 1, bodyByteCount: 1 << 20).bytes + [0]
    _ = unsafe coffer_local_name(socket, path, 0) == 0 && send(socket, begun, begun.count, Int32(MSG_NOSIGNAL)) == begun.count
    return socket
  }
  say("\(sockets.count)")
  var byte: UInt8 = 0
  while unsafe read(0, &byte, 1) > 0 {}
}

func guess(_ path: String, _ count: Int) throws {
  let channels = (0..<count).compactMap { _ -> FrameChannel? in
    guard let socket = OwnedDescriptor(coffer_local_socket()), unsafe coffer_local_name(socket.number, path, 0) == 0 else {
      return nil
    }
    return FrameChannel(socket)
  }
  guard let first = channels.first else { exit(2) }
  try first.send(Request.session(.inspect).frame(request: 1))
  guard var received = try first.receive(), let answer = received.message.take() else { exit(3) }
  guard let slot = try VaultSummary(wireRows: answer.rows()).slots.first(where: \.type.hasPassphrase) else { exit(4) }
  let frame = try Request.session(.unlock(.derived(.random(count: 32), slot.type, salt: slot.salt))).frame(request: 1)
  for channel in channels { try channel.send(frame) }
  say("guessing")
  var refused = 0
  while true {
    for channel in channels {
      if next(channel) == "wrongCredential" { refused += 1 }
      try channel.send(frame)
      var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&input, 1, 0) == 0 else { return say("\(refused)") }
    }
  }
}

let words = CommandLine.arguments
if words.count == 2, words[1] == "copy" { copy() }
guard words.count >= 3 else { exit(2) }
if words[1] == "relay" { relay(to: words[2]) }
if words[1] == "await" {
  say("here")
  _ = wait(nil)
  exit(0)
}
if words[1] == "hidden" { _ = coffer_prctl(PR_SET_DUMPABLE, 0) }
if words[1] == "announce" {
  announce(words[2], Int(words[3]) ?? 0, words.count > 4 ? UInt16(words[4]).flatMap(Request.Kind.init) ?? .add : .add)
  exit(0)
}
if words[1] == "guess" {
  do { try guess(words[2], Int(words[3]) ?? 0) } catch { exit(5) }
  exit(0)
}
if words[1] == "hold" { exit(hold(words[2], Int(words[3]) ?? 0) > 0 ? 0 : 2) }
let socket = coffer_local_socket()
guard unsafe coffer_local_name(socket, words[2], 0) == 0 else {
  say("not connected: \(errno)")
  exit(1)
}
// Where a command expects it, and open in there.
guard let connection = OwnedDescriptor(dup2(socket, 3)) else { exit(2) }
_ = fcntl(3, F_SETFD, 0)
let channel = FrameChannel(connection)
var extra: [String] = []
if words[1] == "watch" {
  say(watch(channel))
  if words.count == 3 { say(next(channel)) }
} else if words[1] == "for" {
  guard let start = ProcessStart.ticks(of: getppid()) else { exit(3) }
  let client = BusClient.process(getppid(), start: start)
  say(ask(channel) { try Request.items(.items(nil, nil, Attributes())).frame(request: 1, for: client) })
} else if words[1] == "challenged" {
  try channel.send(Request.items(.items(nil, nil, Attributes())).frame(request: 1))
  guard var frame = try channel.receive(), let message = frame.message.take() else { exit(3) }
  say("\(frame.header.kind)")
  // The response is the frame that the command is to send.
  let response = try Challenge(message).response()
  extra = [response.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()]
} else if words[1] != "leave" {
  say(ask(channel))
}
guard words.count > 3 else { exit(0) }
var arguments = unsafe (words[3...] + extra).map { unsafe strdup($0) } + [nil]
if words[1] == "exec" || words[1] == "challenged" || words[1] == "watch" {
  unsafe execv(words[3], &arguments)
  exit(127)
}
var child: pid_t = 0
guard unsafe posix_spawn(&child, words[3], nil, nil, &arguments, environ) == 0 else { exit(127) }
if words[1] == "spawn" || words[1] == "twice" {
  var status: Int32 = 0
  unsafe waitpid(child, &status, 0)
}
if words[1] == "twice" { say(ask(channel)) }
