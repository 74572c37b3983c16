/// A note of the log about itself. It is an entry, and so part of the chain.
enum AuditNote: Equatable {
  /// The bytes before this entry are not an entry: a process was killed while writing, or the disk was full.
  case unfinished(digest: [UInt8], byteCount: Int)
  /// Entries that `head` counts were missing.
  case missing(after: UInt64)
  /// There was a log without a readable `head`.
  case headMissing
  /// The last entry is not the one that `head` names.
  case headDiffers
  /// The oldest files, up to the given end of the chain, were deleted because of the limit.
  case dropped(AuditChain)

  static let operation = "log"

  var reason: String {
    switch self {
    case .unfinished(let digest, let count): "unfinished \(count) \(String(decoding: Hexadecimal.text(digest), as: UTF8.self))"
    case .missing(let number): "missing \(number)"
    case .headMissing: "head-missing"
    case .headDiffers: "head-differs"
    case .dropped(let chain): "dropped \(chain.text)"
    }
  }

  /// Returns nil if the entry is not a note.
  init?(_ entry: AuditEntry) {
    guard entry.decision == .noted, entry.operation == Self.operation else { return nil }
    let words = entry.reason.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    switch (words.first, words.count) {
    case ("unfinished", 3):
      guard let count = Int(words[1]), let digest = Hexadecimal.bytes(Array(words[2].utf8)[...]) else { return nil }
      self = .unfinished(digest: digest, byteCount: count)
    case ("missing", 2):
      guard let number = UInt64(words[1]), number <= AuditChain.maximumNumber else { return nil }
      self = .missing(after: number)
    case ("head-missing", 1): self = .headMissing
    case ("head-differs", 1): self = .headDiffers
    case ("dropped", 2):
      guard let chain = AuditChain(words[1]) else { return nil }
      self = .dropped(chain)
    default: return nil
    }
  }
}
