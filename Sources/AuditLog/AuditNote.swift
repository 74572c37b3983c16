/// What the log says of itself, in an entry of its own: so it is in the chain like everything else.
enum AuditNote: Equatable {
  /// Bytes that are no entry lie before this one: somebody was killed while writing, or the disk was full.
  case unfinished(digest: [UInt8], byteCount: Int)
  /// Entries that `head` knows, and that were no longer there.
  case missing(after: UInt64)
  /// There was a log, and no `head`, or none that could be read.
  case headMissing
  /// The last entry is not the one that `head` knows.
  case headDiffers
  /// The oldest files were removed, because there were too many: all up to the end of the chain that is named.
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

  /// Nil for an entry that is no note.
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
