/// The content of the file `head`: the end of the log. Without it, truncating the last entries would not be detected.
///
/// One line of fixed length, overwritten in place by one system call, so that a crash leaves the old or the new line.
struct AuditHead: Equatable {
  /// The last entry.
  var chain: AuditChain
  /// The file that contains it, by the number of the file's first entry.
  var segment: UInt64
  /// The size of that file, in bytes.
  var byteCount: UInt64
  /// The number of the last entry that is on the disk.
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

  /// Returns nil if the bytes are not in this format.
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
