import Coffer
import CofferConsole
import CofferRequests
import Glibc
import OneTimeCodes
import SecretMemory
import VaultCore

/// The companion `SERVICE#otp` of an item, whose secret is an `otpauth:` URI.
enum CodeItem {
  static let field = "otp"

  /// Whether it is such a companion.
  static func isOne(_ entry: Entry) -> Bool { ItemName.parts(of: entry.item).service.hasSuffix(Companions.mark + field) }

  static func selection(_ item: ItemOptions) throws -> Selection {
    let selection = try Selection(item)
    guard selection.name.field == nil else { throw Failure.usage("name: an item is meant, and no field of it") }
    return selection
  }

  /// - Throws: not found.
  static func entry(_ selection: Selection, in items: OpenItems) throws -> Entry {
    let item = try selection.one(in: items)
    guard let entry = try items.companionIfThere(field, of: selection.name, item) else {
      throw Failure(.notFound, "\(item.name): has no one-time codes", hint: "coffer secret set-otp NAME keeps the key")
    }
    return entry
  }
}

/// A code that may be shown.
struct IssuedCode: ~Copyable {
  let code: Secret
  private let parameters: CodeParameters
  private let isNext: Bool
  /// nil for a code by a counter.
  private let secondsLeft: UInt64?

  /// - Parameter entry: The companion.
  /// - Throws: usage, for the code of a next period if the codes go by a counter; other; I/O.
  init(_ entry: Entry, isNext: Bool, in items: OpenItems) throws {
    let source = try Self.source(of: entry, in: items)
    let now = UInt64(max(0, time(nil)))
    let left = source.secondsLeft(at: now)
    guard left != nil || !isNext else {
      throw Failure.usage("--next: this code goes by a counter", hint: "without --next: each code is the next one")
    }
    let code = try about(entry.name) { try source.code(source.factor(at: now, later: isNext ? 1 : 0)) }
    try Self.keepNextCounter(source, entry, items)
    self.code = code
    (parameters, self.isNext, secondsLeft) = (source.parameters, isNext, left)
  }

  private static func source(of entry: Entry, in items: OpenItems) throws -> CodeSource {
    let uri = try items.secret(of: entry, to: "make a one-time code of")
    do {
      return try CodeSource(uri)
    } catch let error as CodeError {
      let reason = Failure(error)
      throw Failure(.other, "\(entry.name): \(reason.message)", hint: "coffer secret set-otp --update NAME replaces it")
    }
  }

  /// On the disk before the code is printed: a counter that comes twice is refused by the other side, and a code that is lost is not.
  /// - Throws: I/O, if another command has taken this code.
  private static func keepNextCounter(_ source: borrowing CodeSource, _ entry: Entry, _ items: OpenItems) throws {
    guard let next = try about(entry.name, { try source.advanced() }) else { return }
    try about(entry.name) {
      do {
        try items.keychain.update(entry, secret: next)
      } catch let error as KeychainError where error.code == .conflict {
        throw Failure(.inputOutput, "\(entry.name): another command has taken this code", hint: "the same command again")
      }
    }
  }

  /// For JSON, without the code.
  func members(_ name: String) -> [(String, JSON)] {
    var members: [(String, JSON)] = [("name", .text(name)), ("digits", .natural(UInt64(parameters.digits)))]
    switch parameters.moment {
    case .time(let period): members += [("period", .natural(period)), ("secondsLeft", .natural(secondsLeft ?? 0))]
    case .counter(let counter): members.append(("counter", .natural(counter)))
    }
    return members
  }

  func noteTime() {
    guard let secondsLeft else { return }
    let time = counted(Int(secondsLeft), "second")
    Descriptor.error.note(isNext ? "valid in \(time)\n" : "\(time) left\n")
  }
}
