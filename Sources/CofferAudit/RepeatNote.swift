/// The suffix of the reason of an entry that stands for several: `; 3 more since entry 17`.
package struct RepeatNote: Equatable {
  package let count: UInt64
  /// The number of the repeated entry.
  package let number: UInt64

  init(count: UInt64, number: UInt64) { (self.count, self.number) = (count, number) }

  func appended(to reason: String) -> String { "\(reason); \(count) more since entry \(number)" }

  /// Returns nil if the reason has no such suffix.
  package init?(_ reason: String) {
    let words = reason.split(separator: " ").suffix(5)
    guard words.count == 5, words.dropFirst().dropLast().elementsEqual(["more", "since", "entry"]),
      let first = words.first, let last = words.last, let count = UInt64(first), let number = UInt64(last)
    else { return nil }
    self.init(count: count, number: number)
  }
}
