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
  private var isShown = false

  init() throws { text = try RecoveryKey.random() }

  /// Shows it and asks. After a second wrong answer it is shown again. Without a person nothing is asked, and it is printed at the end.
  /// - Throws: `cancelled`.
  func confirm(isInputAllowed: Bool) throws {
    guard isInputAllowed, Descriptor.output.isTerminal, Descriptor.input.isTerminal, HiddenTerminal.hide() != nil else { return }
    try printUnlessShown()
    while try !isAnswered() { try RecoveryKeyOutput.print(text) }
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

  func printUnlessShown() throws {
    guard !isShown else { return }
    try RecoveryKeyOutput.print(text)
    isShown = true
  }
}
