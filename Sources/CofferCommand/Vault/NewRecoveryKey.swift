import CofferConsole
import ProgramSecrets
import SecretMemory
import VaultCore

/// A new recovery key. At a terminal three of its groups are asked back before there is a slot for it: a key that was not written down
/// opens nothing on the day it is needed.
final class NewRecoveryKey {
  private static let groupCount = 8
  private static let letterCount = 7
  private static let askedCount = 3

  let text: Secret
  private var isPrinted = false
  private var work: LongWork?

  init() throws { text = try RecoveryKey.random() }

  /// Prints it, and asks a person for parts of it; after a second wrong answer it is printed again. Called before the commit that adds its
  /// slot: if standard output is full, no slot has a key that was lost.
  /// - Parameter work: Holds signals back until the commit; nil: this key does, until `counting` returns.
  /// - Throws: `cancelled`, also after a signal; I/O.
  func deliver(isInputAllowed: Bool, during work: LongWork? = nil) throws {
    let work = try work ?? LongWork("")
    self.work = work
    try print(work)
    if isInputAllowed, Descriptor.output.isTerminal, Descriptor.input.isTerminal, HiddenTerminal.hide() != nil {
      while try !isAnswered() { try print(work) }
    }
    try work.check()
  }

  private func print(_ work: LongWork) throws {
    try work.waitForRoom(in: .output)
    try RecoveryKeyOutput.print(text)
    isPrinted = true
  }

  /// Runs the commit that adds the slots of these keys. If it throws after one was printed, a note says whether it counts.
  static func counting<Result: ~Copyable>(_ keys: [NewRecoveryKey], _ commit: () throws -> Result) throws -> Result {
    defer { for key in keys { key.work?.end() } }
    do { return try commit() } catch {
      notePrinted(keys, after: error)
      throw error
    }
  }

  /// After a commit that may have failed.
  static func notePrinted(_ keys: [NewRecoveryKey], after error: any Error) {
    guard keys.contains(where: \.isPrinted) else { return }
    Descriptor.error.note(
      Failure(error).status == .cancelled
        ? "note: the recovery key that was printed opens nothing\n"
        : "note: the recovery key that was printed may open nothing: coffer vault status --recovery-key tries it\n")
  }

  private func isAnswered() throws -> Bool {
    for group in (0..<Self.groupCount).shuffled().prefix(Self.askedCount).sorted() {
      let question = "Group \(group + 1) of what you have written down: "
      guard try !isGroup(group, Person.ask(question, isShown: true, isAllowed: true)) else { continue }
      Descriptor.error.note("That is not group \(group + 1). Try again.\n")
      guard try isGroup(group, Person.ask(question, isShown: true, isAllowed: true)) else { return false }
    }
    return true
  }

  /// As a reader of the whole key: spaces and hyphens do not count, nor does case.
  private func isGroup(_ group: Int, _ typed: borrowing Secret) throws -> Bool {
    let first = group * (Self.letterCount + 1)
    var (count, difference): (Int, UInt8) = (0, 0)
    for offset in 0..<typed.count {
      let byte = typed.byte(at: offset)
      if byte == 0x20 || byte == 0x2D { continue }
      let upper = (0x61...0x7A).contains(byte) ? byte - 0x20 : byte
      if count < Self.letterCount { difference |= upper ^ text.byte(at: first + count) }
      count += 1
    }
    return count == Self.letterCount && difference == 0
  }
}
