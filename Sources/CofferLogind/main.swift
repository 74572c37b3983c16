import Coffer
import CofferFiles
import Glibc

// coffer-logind SOCKET USER
//
// Locks the agent behind the socket when the machine goes to sleep, and when a session of the user is locked. It is a separate
// program, so that the process with the keys is not connected to a message bus. It has no secrets, and no rights but those of any
// program of the user: sending "lock". The agent starts it, and it ends with the agent; at once if there is no bus or no logind.

func say(_ line: String) {
  let bytes = Array("\(line)\n".utf8)
  _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

ProgramArguments.check()
let words = CommandLine.arguments
guard words.count == 3, let user = UInt32(words[2]) else {
  say("usage: coffer-logind SOCKET USER")
  exit(2)
}
do {
  try SleepWatch(socket: words[1], user: user).run()
} catch {
  say("coffer-logind: \(error)")
  exit(1)
}
