import CofferAudit
import Glibc

// Logs entries and prints the number of each when it has been acknowledged: AuditWriter STATE COUNT NAME
let arguments = CommandLine.arguments
guard arguments.count == 4, let count = Int(arguments[2]) else { exit(2) }
do {
  let log = try AuditLog(in: arguments[1])
  let caller = AuditEntry.Caller(user: geteuid(), process: getpid(), executable: "/writer")
  for index in 0..<count {
    let entry = AuditEntry(at: 0, .allowed, "test", by: caller, application: "\(arguments[3]) \(index)", because: "rule")
    let end = try log.append(entry, isSynced: false)
    let line = Array("\(end.number) \(arguments[3]) \(index)\n".utf8)
    guard unsafe write(STDOUT_FILENO, line, line.count) == line.count else { exit(3) }
  }
} catch {
  let text = Array("\(error)\n".utf8)
  _ = unsafe write(STDERR_FILENO, text, text.count)
  exit(1)
}
