import Glibc
package import VaultCore

/// The name of a backup in the directory of backups, such as `20261123T193000Z-g42.coffer`: its time, and the generation of the vault.
///
/// `20261123T193000Z-g42-before-restore.coffer` was made because a restore was about to replace its content. A restore takes it only if it is
/// named: the state that was just replaced is not the newest one to go back to.
package struct BackupName: Hashable, Comparable, Sendable {
  package enum Occasion: String, Sendable {
    case ordinary = ""
    case restore = "-before-restore"
    case repair = "-before-repair"
    /// It opens with a credential that others know. The rotation removes it at its end; if it was interrupted, the next one does.
    case rotation = "-before-rotation"
  }

  package var time: Timestamp
  package let generation: UInt64
  package let occasion: Occasion

  package init(time: Timestamp, generation: UInt64, occasion: Occasion = .ordinary) {
    (self.time, self.generation, self.occasion) = (time, generation, occasion)
  }

  /// Returns nil for a file of another name: it is not ours to remove.
  package init?(_ name: String) {
    guard name.hasSuffix(".coffer") else { return nil }
    let parts = name.dropLast(".coffer".count).split(separator: "-", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[1].hasPrefix("g"), parts[0].utf8.count == 16, let generation = UInt64(parts[1].dropFirst()),
      let time = Self.time(parts[0]), let occasion = Occasion(rawValue: parts.count == 3 ? "-\(parts[2])" : "")
    else { return nil }
    self.init(time: time, generation: generation, occasion: occasion)
    guard text == name else { return nil }
  }

  private static func time(_ text: Substring) -> Timestamp? {
    let digits = text.utf8.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.map { Int32($0) - 48 }
    guard digits.count == 14 else { return nil }
    func number(_ range: Range<Int>) -> Int32 { digits[range].reduce(0) { $0 * 10 + $1 } }
    var parts = unsafe tm()
    unsafe (parts.tm_year, parts.tm_mon, parts.tm_mday) = (number(0..<4) - 1900, number(4..<6) - 1, number(6..<8))
    unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec) = (number(8..<10), number(10..<12), number(12..<14))
    return Timestamp(secondsSince1970: Int64(unsafe timegm(&parts)))
  }

  package var text: String { "\(Self.text(of: time))-g\(generation)\(occasion.rawValue).coffer" }

  /// A time as it stands in names of files.
  package static func text(of time: Timestamp) -> String {
    var seconds = time_t(time.secondsSince1970)
    var parts = unsafe tm()
    _ = unsafe gmtime_r(&seconds, &parts)
    func padded(_ number: Int32, _ count: Int = 2) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }
    let date = unsafe padded(parts.tm_year + 1900, 4) + padded(parts.tm_mon + 1) + padded(parts.tm_mday)
    return unsafe "\(date)T" + padded(parts.tm_hour) + padded(parts.tm_min) + padded(parts.tm_sec) + "Z"
  }

  package static func < (left: Self, right: Self) -> Bool {
    (left.time, left.generation, left.occasion.rawValue) < (right.time, right.generation, right.occasion.rawValue)
  }
}
