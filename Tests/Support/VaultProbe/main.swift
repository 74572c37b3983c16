import CofferStorage
// A program that uses a vault file as an app would, for tests that kill it, run many of it, or look into its memory.
//
//   VaultProbe create PATH
//   VaultProbe write PATH SEED [--ack-early]   random operations until it is killed; a line for each one that was acknowledged
//   VaultProbe add PATH NAME COUNT             COUNT items NAME/0 …, one commit each
//   VaultProbe hold PATH 3<PASSPHRASE 4<KEY-FILE 5<SECRET
//                                              a vault is made, used and closed; it stops itself after each step
//   VaultProbe classes PATH 4<KEY-FILE 6<DEVICE-KEY
//                                              a vault is made with an item of each class
//   VaultProbe lock PATH 4<KEY-FILE 6<DEVICE-KEY
//                                              it is opened and used, locked, used and given up; it stops itself after each step
import CofferTesting
import Glibc
import Passphrases
import SecretMemory
import VaultCore

func say(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  let written = unsafe write(1, bytes, bytes.count)
  if written != bytes.count { exit(3) }
}

/// The operations of a soak: `put ACCOUNT VALUE` and `remove ACCOUNT`, on accounts that belong to this process alone.
func soak(_ path: String, seed: UInt64, acknowledgesEarly: Bool) throws {
  var random = SeededGenerator(seed: seed)
  var vault = try Vault.openThrowAway(FileStore(at: path))
  var number = 0
  while true {
    number += 1
    let account = "\(seed)-\(Int.random(in: 0..<40, using: &random))"
    let item = Item(service: "soak", account: account)
    let entry = try vault.entry(item)
    let removes = entry != nil && Int.random(in: 0..<4, using: &random) == 0
    let value = "\(seed)-\(number)-" + String(repeating: "x", count: Int.random(in: 0..<600, using: &random))
    let line = removes ? "remove \(account)" : "put \(account) \(value)"
    say("begin \(line)")
    if acknowledgesEarly { say("done \(line)") }
    if let entry, removes {
      try vault.remove(entry.reference)
    } else if let entry {
      try vault.update(entry.reference, secret: Secret(testing: value), at: .test)
    } else {
      try vault.add(item, secret: Secret(testing: value), at: .test)
    }
    if !acknowledgesEarly { say("done \(line)") }
  }
}

/// The content of a descriptor, straight into locked memory.
func secret(from descriptor: Int32) throws -> Secret {
  try Secret(capacity: 4096) { span in
    try unsafe span.withUnsafeMutableBytes { bytes in
      let count = unsafe read(descriptor, bytes.baseAddress, bytes.count)
      guard count >= 0 else { throw VaultError(.notFound, "descriptor \(descriptor)") }
      return count
    }
  }
}

/// Steps 1 to 6: made, opened anew, item added, its secret held, items listed, everything gone.
func hold(_ path: String) throws {
  do {
    let credential = try Credential.passphrase(secret(from: 3), andKeyFile: secret(from: 4))
    try Vault.create(in: FileStore.create(at: path), with: credential, kdf: .lowMemory, at: .test).close()
    raise(SIGSTOP)
    var vault = try Vault.open(FileStore(at: path), with: credential)
    raise(SIGSTOP)
    let reference = try vault.add(Item(service: "service", account: "account"), secret: secret(from: 5), at: .test)
    raise(SIGSTOP)
    let secret = try vault.secret(of: reference)
    raise(SIGSTOP)
    say("\(try vault.entries().entries.count) items, \(secret.count) bytes")
    raise(SIGSTOP)
    try vault.close()
  }
  raise(SIGSTOP)
}

func item(_ accessibility: Accessibility) -> Item { Item(service: "service", account: "\(accessibility)") }

func makeClasses(_ path: String) throws {
  var vault = try Vault.create(
    in: FileStore.create(at: path), with: .keyFile(secret(from: 4)), at: .test, deviceKey: secret(from: 6))
  // Without one there is no class of its own for it.
  try vault.addSlot(.passphrase(Secret(testing: "one")), kdf: .lowMemory)
  for accessibility in Accessibility.allCases {
    try vault.add(item(accessibility), secret: Secret(testing: "value"), accessible: accessibility, at: .test)
  }
  try vault.close()
}

/// Steps 1 to 3: every item read, locked, those read and written again that can be. A fourth when everything is gone.
func lock(_ path: String) throws {
  do {
    var vault = try Vault.open(FileStore(at: path), with: .keyFile(secret(from: 4)), deviceKey: secret(from: 6))
    for accessibility in Accessibility.allCases {
      guard let found = try vault.entryWithSecret(item(accessibility)) else { throw VaultError(.notFound) }
      say("\(found.secret.count) bytes")
    }
    raise(SIGSTOP)
    vault.lock()
    raise(SIGSTOP)
    for accessibility in [Accessibility.afterFirstUnlock, .afterFirstUnlockThisDevice] {
      guard let found = try vault.entryWithSecret(item(accessibility)) else { throw VaultError(.notFound) }
      try vault.update(found.entry.reference, secret: Secret(testing: "other"), at: .test)
    }
    raise(SIGSTOP)
  }
  raise(SIGSTOP)
}

let arguments = CommandLine.arguments
do {
  switch (arguments.count > 1 ? arguments[1] : "", arguments.count) {
  case ("create", 3):
    try Vault.throwAway(in: FileStore.create(at: arguments[2])).close()
  case ("write", 4...5):
    try soak(arguments[2], seed: UInt64(arguments[3]) ?? 0, acknowledgesEarly: arguments.last == "--ack-early")
  case ("add", 5):
    // On a busy machine the turns of the others may take longer than a command would wait.
    var vault = try Vault.openThrowAway(FileStore(at: arguments[2], busyTimeout: .seconds(1200)))
    for number in 0..<(Int(arguments[4]) ?? 0) {
      try vault.add(Item(service: arguments[3], account: "\(number)"), secret: Secret(testing: arguments[3]), at: .test)
      say("\(arguments[3])/\(number)")
    }
  case ("hold", 3):
    try hold(arguments[2])
  case ("classes", 3):
    try makeClasses(arguments[2])
  case ("lock", 3):
    try lock(arguments[2])
  default:
    exit(64)
  }
} catch {
  let line = Array("VaultProbe: \(arguments): \(error)\n".utf8)
  _ = unsafe write(2, line, line.count)
  exit(1)
}
