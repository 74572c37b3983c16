import AccessRights
import CofferAudit
import CofferConsole
import CofferRequests
import Glibc
import VaultCore

/// A refusal that a grant to the program would have prevented.
struct Refusal {
  let number: UInt64
  let entry: AuditEntry
  /// As a grant names it.
  let program: String
  /// Nil if the program named none.
  let group: AccessGroup?
  /// For what it wanted to do; empty if several rights allow it.
  let missing: Entitlements.Rights

  /// Returns nil if no grant would have helped.
  init?(_ logged: LoggedEntry) {
    let entry = logged.entry
    guard entry.decision == .refused, entry.reason.hasPrefix(KeychainError.Code.missingEntitlement.name),
      let missing = Request.Kind(loggedAs: entry.operation)?.rights, !entry.application.isEmpty, RepeatNote(entry.reason) == nil
    else { return nil }
    (number, self.entry, self.missing, program) = (logged.number, entry, missing, entry.application)
    group = try? AccessGroup(entry.group)
  }

  /// For people.
  var text: String {
    if case .program? = try? GrantedProgram(named: program) { return "\(entry.caller.executable) (\(program))" }
    return program
  }

  /// The grant is for what was refused. Another program may lie at its path by now, and the owner would think of that one.
  /// - Throws: not found, integrity.
  func checkIsUnchanged() throws {
    guard case .program? = try? GrantedProgram(named: program) else { return }
    let path = entry.caller.executable
    guard unsafe access(path, F_OK) == 0 else {
      throw Failure(.notFound, "\(path): the program that was refused is not there any more", hint: Self.again)
    }
    let file = try Descriptor.openFile(path)
    defer { file.close() }
    guard try program == GrantedProgram.program(GrantedProgram.digestText(file.digest())).name else {
      throw Failure(.integrity, "\(path): has changed since it was refused", hint: Self.again)
    }
  }

  private static let again = "let it ask again, and allow that: coffer access allow"
}

/// Those of the audit log.
struct Refusals {
  private var refusals: [UInt64: Refusal] = [:]
  private var others: Set<UInt64> = []

  /// - Parameter history: The audit log of the agent that keeps the vault.
  init(_ history: AuditHistory?) throws {
    var refusals: [UInt64: Refusal] = [:]
    var others: Set<UInt64> = []
    try about("the audit log") {
      try history?.forEachEntry { ring, logged in
        guard ring == .refusals else { return }
        if let refusal = Refusal(logged) {
          refusals[refusal.number] = refusal
        } else {
          others.insert(logged.number)
        }
      }
    }
    (self.refusals, self.others) = (refusals, others)
  }

  /// - Throws: not found.
  func refusal(_ number: UInt64) throws -> Refusal {
    if let refusal = refusals[number] { return refusal }
    guard others.contains(number) else {
      throw Failure(.notFound, "\(number): no such refusal in the log", hint: "coffer access allow lists them")
    }
    throw Failure(
      .notFound, "\(number): no grant would have changed it",
      hint: "an interpreter, and a program that cannot be read, get nothing: see coffer-access(1)")
  }

  /// For each program, group and operation.
  private var newest: [Refusal] {
    let kinds = Dictionary(grouping: refusals.values) { refusal in
      [refusal.program, refusal.entry.caller.executable, refusal.entry.group, refusal.entry.operation]
    }
    return kinds.values.compactMap { $0.max { $0.number < $1.number } }.sorted { $0.number < $1.number }
  }

  func print(asJSON: Bool) throws {
    guard !asJSON else {
      let objects = newest.map { refusal in
        JSON.object([
          ("number", .natural(refusal.number)), ("time", .text(AuditTime.text(refusal.entry.milliseconds))),
          ("program", .text(refusal.program)), ("group", refusal.group.map { .text($0.name) } ?? .null),
          ("operation", .text(refusal.entry.operation)), ("rights", .text(refusal.missing.names)),
          ("executable", .text(refusal.entry.caller.executable)),
        ])
      }
      return try Descriptor.output.write(JSON.array(objects).description + "\n")
    }
    var table = Table(heading: ["NUMBER", "TIME", "PROGRAM", "GROUP", "OPERATION", "FILE"])
    for refusal in newest {
      table.rows.append([
        "\(refusal.number)", AuditTime.text(refusal.entry.milliseconds), refusal.program, refusal.group?.name ?? "",
        refusal.entry.operation, refusal.entry.caller.executable,
      ])
    }
    try Descriptor.output.write(table.text(style: .current()))
  }
}

extension Descriptor {
  /// The digest of everything up to its end.
  fileprivate func digest() throws -> [UInt8] {
    var digest = try ContentDigest()
    var room = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let count = unsafe try room.withUnsafeMutableBytes { unsafe try read(into: $0) }
      if count == 0 { return digest.finish() }
      digest.update(Array(room[..<count]))
    }
  }
}
