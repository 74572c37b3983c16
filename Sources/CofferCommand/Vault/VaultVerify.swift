import ArgumentParser
import CofferConsole
import CofferLifecycle
import CofferWire
import SecretMemory
import VaultCore

struct VaultVerify: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check every item and everything that leads to it.")

  @OptionGroup var vault: VaultOptions

  @Flag(help: "As JSON.")
  var json = false

  func run() throws {
    let owned = try vault.ownedVault()
    let result = try owned.verify()
    let name = try owned.name
    if json {
      let problems = result.problems.map { JSON.object([("code", .text($0.code.name)), ("detail", .text($0.detail))]) }
      let members: [(String, JSON)] = [
        ("sound", .boolean(result.isSound)), ("records", .natural(result.recordCount)),
        ("unavailable", .natural(result.unavailableCount)), ("problemCount", .natural(result.problemCount)),
        ("problems", .array(problems)), ("rollback", result.rollback.map(Self.json) ?? .null),
      ]
      try Descriptor.output.write(JSON.object(members).description + "\n")
    } else if result.isSound {
      let records = counted(result.recordCount, "record")
      try Descriptor.output.write(result.unavailableCount == 0 ? "\(records), all sound\n" : "\(records), \(result.unopened)\n")
    }
    if let rollback = result.rollback, Self.isCopy(rollback), !json { try Descriptor.output.write(Self.text(rollback)) }
    guard result.isSound else { throw Failure.unsound(result, about: name) }
    if let rollback = result.rollback, !Self.isCopy(rollback) { throw Failure(rollback.reason, about: name) }
  }

  /// Whether it is no fault: an older state, or another history, of a vault that lies elsewhere.
  private static func isCopy(_ rollback: VaultCheck.Rollback) -> Bool {
    !rollback.wasSeenHere && VaultCheck.Rollback.codesOfCopies.contains(rollback.reason.code)
  }

  private static func text(_ rollback: VaultCheck.Rollback) -> String {
    let kind =
      switch rollback.reason.code {
      case .forked: "a copy with another history"
      case .anchorOtherKeys: "a copy with other keys than the state last seen"
      default: "an older copy"
      }
    let seen = rollback.seen.map { "; elsewhere generation \($0) was seen" } ?? ""
    return "\(kind): generation \(rollback.present)\(seen)\n"
  }

  private static func json(_ rollback: VaultCheck.Rollback) -> JSON {
    .object([
      ("code", .text(rollback.reason.code.name)), ("generation", .natural(rollback.present)),
      ("seen", rollback.seen.map { .natural($0) } ?? .null), ("seenHere", .boolean(rollback.wasSeenHere)),
    ])
  }

}

extension Failure {
  private static let soundItems = "sound items can still be read; coffer vault repair keeps them"

  static func unsound(_ result: Verification, about path: String, hint: String = soundItems) -> Failure {
    unsound(VaultCheck(result), about: path, hint: hint)
  }

  /// A vault with problems, and the list of them.
  static func unsound(_ result: VaultCheck, about path: String, hint: String = soundItems) -> Failure {
    let isOfNames = VaultError.Code.areOfNamesAlone(result.problems, of: result.problemCount)
    let more = result.problemCount - UInt64(result.problems.count)
    return Failure(
      .integrity, "\(path): \(counted(result.problemCount, "problem"))",
      hint: isOfNames ? "an item with such a name can be read, and goes by its id: coffer secret rm --id ID" : hint,
      details: result.problems.map { Failure($0).message } + (more == 0 ? [] : ["and \(more) more"])
        + (result.unavailableCount == 0 ? [] : [result.unopened]))
  }
}

extension Verification {
  var unopened: String { VaultCheck(self).unopened }
}

extension VaultCheck {
  var unopened: String { Self.unopened(unavailableCount) }

  /// For records that are proven, and whose content was not looked at.
  static func unopened(_ count: UInt64) -> String {
    "\(count) not opened: of another device, or the key of this device is missing"
  }
}
