import CofferStorage
// One process of a storage test: what must be killed, stopped, run as another user, or run where the disk is full.
//
//   StorageProbe [as UID] [umask OCTAL] COMMAND PATH [ARGUMENT]
//
// Prints one line per result: "ok …", or the name of the error's code.
import Glibc
import SecretMemory
import VaultCore

func say(_ text: String) {
  let line = Array("\(text)\n".utf8)
  _ = unsafe line.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
}

func row(_ id: Identifier, fill: UInt8 = 7, count: Int = 128) -> SealedRecord {
  SealedRecord(
    id: id, group: .zero, meta: Array(repeating: 0, count: 16), attributes: Array(repeating: fill, count: count),
    secret: Array(repeating: fill, count: count))
}

func randomIdentifier() -> Identifier { Identifier((0..<16).map { _ in UInt8.random(in: 0...255) })! }

func addOne(to store: FileStore, count: Int = 128) throws {
  try store.commit { _ in
    var change = Change()
    let id = randomIdentifier()
    change.records[id] = row(id, count: count)
    return change
  }
}

/// Reads a counter, waits for a moment, writes it one higher, and adds a row.
func countUp(_ store: FileStore) throws {
  try store.commit { rows in
    let old = try rows.header(1) ?? [0, 0, 0, 0]
    let number = old.reduce(0) { $0 << 8 | UInt32($1) } + 1
    var change = Change()
    change.header[1] = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    let id = randomIdentifier()
    change.records[id] = row(id)
    return change
  }
}

func countRecords(_ store: FileStore) throws -> Int {
  try store.read { rows in
    var count = 0
    try rows.forEachRecord(under: []) { _, _ in count += 1 }
    return count
  }
}

func run(_ command: String, _ path: String, _ argument: String?) throws {
  let number = argument.flatMap { Int($0) } ?? 1
  let timeout = Duration.seconds(10)
  switch command {
  case "close-twice":
    // The control of Tests/CloseCheck.
    let descriptor = unsafe open("/dev/null", O_RDONLY)
    close(descriptor)
    say("ok \(close(descriptor))")
  case "create":
    let store = try FileStore.create(at: path, createDirectory: argument == "directory")
    try store.commit { _ in
      var change = Change()
      change.header[0] = Array(repeating: 0, count: 256)
      return change
    }
    say("ok")
  case "read":
    say("ok \(try countRecords(FileStore(at: path)))")
  case "read-lines":
    // Again at each signal.
    let store = try FileStore(at: path)
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGUSR1)
    unsafe sigprocmask(SIG_BLOCK, &signals, nil)
    while true {
      say("ok \(try countRecords(store))")
      var number: Int32 = 0
      unsafe sigwait(&signals, &number)
    }
  case "add-at-signals":
    // Once, and again at each signal.
    let store = try FileStore(at: path)
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGUSR1)
    unsafe sigprocmask(SIG_BLOCK, &signals, nil)
    while true {
      do {
        try addOne(to: store)
        say("ok")
      } catch let error as StorageError { say(error.code.name) }
      var number: Int32 = 0
      unsafe sigwait(&signals, &number)
    }
  case "remove":
    let store = try FileStore(at: path)
    var first: Identifier?
    try store.read { try $0.forEachRecord(under: []) { id, _ in if first == nil { first = id } } }
    try store.commit { _ in
      var change = Change()
      change.records[first!] = .some(nil)
      return change
    }
    say("ok")
  case "add":
    let store = try FileStore(at: path)
    for _ in 0..<number { try addOne(to: store) }
    say("ok")
  case "add-large":
    let store = try FileStore(at: path)
    var added = 0
    do {
      while added < number {
        try addOne(to: store, count: 30_000)
        added += 1
      }
    } catch let error as StorageError {
      say(error.code.name)
    }
    say("ok \(added)")
  case "look-up":
    let store = try FileStore(at: path)
    let taken = try ContinuousClock().measure { for _ in 0..<number { _ = try store.read { try $0.record(.zero) } } }
    say("ok \(taken / number)")
  case "places":
    say("ok \(try Places { _ in nil }.vault)")
  case "places-of-environment":
    say("ok \(try Places { unsafe getenv($0).map { unsafe String(cString: $0) } }.vault)")
  case "add-with-journal":
    let store = try FileStore(at: path, busyTimeout: timeout, withRollbackJournal: true)
    for _ in 0..<number { try addOne(to: store) }
    say("ok")
  case "add-twice":
    // The result of the second call on a handle whose first call failed.
    let store = try FileStore(at: path)
    do {
      try addOne(to: store)
      say("ok")
    } catch let error as StorageError { say(error.code.name) }
    do {
      try addOne(to: store)
      say("ok")
    } catch let error as StorageError { say(error.code.name) }
    do { say("ok \(try countRecords(store))") } catch let error as StorageError { say(error.code.name) }
  case "fill":
    let store = try FileStore(at: path)
    var added = try countRecords(store)
    do {
      while added < 10_000 {
        try addOne(to: store, count: 4096)
        added += 1
      }
    } catch let error as StorageError {
      say(error.code.name)
      say("ok \(try countRecords(store) == added)")
      var first: Identifier?
      struct Found: Error {}
      do {
        try store.read {
          try $0.forEachRecord(under: []) {
            first = $0
            _ = $1
            throw Found()
          }
        }
      } catch is Found {}
      do {
        try store.commit { _ in
          var change = Change()
          change.records[first!] = .some(nil)
          return change
        }
        say("ok removed")
      } catch let error as StorageError { say("\(error.code.name) at removal") }
      say("ok \(try countRecords(store) >= added - 1)")
    }
  case "count-up":
    let store = try FileStore(at: path, busyTimeout: .seconds(60))
    for _ in 0..<number { try countUp(store) }
    say("ok")
  case "write-for":
    let store = try FileStore(at: path)
    let clock = ContinuousClock()
    let end = clock.now + .milliseconds(number)
    var count = 0
    var worst = Duration.zero
    while clock.now < end {
      let before = clock.now
      try countUp(store)
      worst = max(worst, clock.now - before)
      count += 1
    }
    say("ok \(count) \(worst.components.seconds * 1000 + worst.components.attoseconds / 1_000_000_000_000_000)")
  case "add-and-hold":
    let store = try FileStore(at: path)
    for _ in 0..<2 { try addOne(to: store) }
    say("ok holding")
    sleep(60)
  case "hold":
    let store = try FileStore(at: path)
    try store.commit { _ in
      say("ok holding")
      sleep(60)
      return Change()
    }
  case "hold-for-maintenance":
    let lock = try MaintenanceLock(forVaultAt: path)
    say("ok holding")
    sleep(60)
    withExtendedLifetime(lock) {}
  case "take-next-key":
    // The path is that of a directory.
    let files = Places(in: path).deviceKeys(of: .zero)
    try files.createUnlessThere()
    try files.makeNext()
    try files.takeNext()
    say("ok")
  case "bulk":
    // Commits of 50 rows each, until it is killed.
    let store = try FileStore(at: path)
    while true {
      say("ok")
      try store.commit { _ in
        var change = Change()
        for _ in 0..<50 {
          let id = randomIdentifier()
          change.records[id] = row(id, count: 2000)
        }
        return change
      }
    }
  case "descriptors":
    var limit = rlimit(rlim_cur: rlim_t(number), rlim_max: rlim_t(number))
    unsafe setrlimit(__rlimit_resource_t(7), &limit)
    say("ok \(try countRecords(FileStore(at: path)))")
  case "load-anchor":
    say("ok \(try AnchorFiles(in: path, forVaultAt: "").lastVault()?.count ?? -1)")
  default:
    say("unknown command")
    exit(2)
  }
}

var arguments = CommandLine.arguments.dropFirst()
if arguments.first == "umask" {
  umask(mode_t(arguments.dropFirst().first!, radix: 8)!)
  arguments = arguments.dropFirst(2)
}
if arguments.first == "as" {
  let user = uid_t(arguments.dropFirst().first!)!
  guard setgid(user) == 0, setuid(user) == 0 else { exit(3) }
  arguments = arguments.dropFirst(2)
}
let words = Array(arguments)
do {
  try run(words[0], words[1], words.count > 2 ? words[2] : nil)
} catch let error as StorageError {
  say(error.code.name)
  say(error.detail)
} catch {
  say("\(error)")
  exit(4)
}
