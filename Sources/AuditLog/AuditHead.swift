/// What the file `head` holds: up to where the log goes. Without it nobody would see that its last entries were cut off.
///
/// One line of fixed length, overwritten in place: it costs one call of the system, and a kill leaves the one or the other.
struct AuditHead: Equatable {
  /// The last entry.
  var chain: AuditChain
  /// The file in which it lies, by the number of the first entry in there.
  var segment: UInt64
  /// How long that file is.
  var byteCount: UInt64
  /// The last entry that is known to be on the disk.
  var synced: UInt64

  private static let name = "coffer-audit-1"
  private static let numberWidth = 20
  static let byteCount = name.utf8.count + 4 * (1 + numberWidth) + 1 + 2 * AuditChain.byteCount + 1

  var bytes: [UInt8] {
    let numbers = [chain.number, segment, byteCount, synced].map { number in
      let digits = "\(number)"
      return String(repeating: "0", count: Self.numberWidth - digits.utf8.count) + digits
    }
    let words = [Self.name] + numbers + [String(decoding: Hexadecimal.text(chain.digest), as: UTF8.self)]
    return Array(words.joined(separator: " ").utf8) + [AuditLine.end]
  }

  init(chain: AuditChain, segment: UInt64, byteCount: UInt64, synced: UInt64) {
    self.chain = chain
    self.segment = segment
    self.byteCount = byteCount
    self.synced = synced
  }

  /// Nil for anything else.
  init?(_ bytes: [UInt8]) {
    let words = bytes.dropLast().split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard bytes.count == Self.byteCount, bytes.last == AuditLine.end, words.count == 6, words[0].elementsEqual(Self.name.utf8),
      let digest = Hexadecimal.bytes(words[5])
    else { return nil }
    let numbers = words[1...4].compactMap { UInt64(String(decoding: $0, as: UTF8.self)) }
    guard numbers.count == 4, numbers.allSatisfy({ $0 <= AuditChain.maximumNumber }) else { return nil }
    self.init(
      chain: AuditChain(number: numbers[0], digest: digest), segment: numbers[1], byteCount: numbers[2], synced: numbers[3])
    guard self.bytes == bytes else { return nil }
  }
}
