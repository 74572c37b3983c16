import ForeignFormats
import SecretMemory

/// The original of a file that a person has changed since its sweep, so that one undo takes back both sweeps: the changes of the person, and
/// the lines of the former original in the places of those that the sweep has left. Only if the two have changed different lines: to choose
/// would be to guess.
struct SweepMerge {
  /// A line, which is compared where it lies: a copy would have the secret outside of locked memory.
  private struct Line: Hashable {
    let text: SourceText
    let range: Range<Int>

    static func == (one: Line, other: Line) -> Bool {
      one.range.count == other.range.count && zip(one.range, other.range).allSatisfy { one.text[$0] == other.text[$1] }
    }

    func hash(into hasher: inout Hasher) { for offset in range { hasher.combine(text[offset]) } }
  }

  /// Lines of the base, and what is in their place.
  private struct Change: Equatable {
    let range: Range<Int>
    let lines: [Int]

    /// A sweep replaces line by line, and what a person adds between two lines meets neither.
    var byLine: [Change] {
      guard range.count == lines.count else { return [self] }
      return zip(range, lines).map { Change(range: $0..<$0 + 1, lines: [$1]) }
    }

    /// At the same place, both would have to be there, and their order is not known.
    func meets(_ other: Change) -> Bool {
      range == other.range || range.lowerBound < other.range.upperBound && other.range.lowerBound < range.upperBound
    }
  }

  /// The comparison takes memory by the square of the lines that differ.
  private static let maximumLineCount = 2000

  private var numbers: [Line: Int] = [:]
  private var lines: [Line] = []
  private var original: [Int] = []
  private var swept: [Int] = []
  private var now: [Int] = []
  private let present: SourceText
  /// The person has started from the text that differs least: the file as it was, if that sweep did not come to its end.
  private var isFromOriginal = false

  /// Returns nil if the files are too long.
  /// - Parameters:
  ///   - former: The file before the former sweep.
  ///   - left: The text that it has left.
  init?(_ former: SourceText, left: SourceText, present: SourceText) {
    self.present = present
    original = numbers(of: former)
    now = numbers(of: present)
    swept = numbers(of: left)
    guard [original, now, swept].allSatisfy({ $0.count <= Self.maximumLineCount }) else { return nil }
    isFromOriginal = now.difference(from: original).count < now.difference(from: swept).count
  }

  /// Whether the present text is that of the file as it was, with changes of a person, and none of the sweep's.
  var isUnswept: Bool {
    let ours = Set(swept).subtracting(original)
    return isFromOriginal && ours.isDisjoint(with: now)
  }

  /// - Returns: nil if it cannot be known.
  func merged() throws -> Secret? {
    let base = isFromOriginal ? original : swept
    let theirs = Self.changes(from: base, to: now)
    guard !theirs.contains(where: { $0.lines.contains(where: isReference) }) else { return nil }
    if isFromOriginal {
      let ours = Self.changes(from: base, to: swept)
      return theirs.contains { one in ours.contains(where: one.meets) } ? nil : try present.whole()
    }
    let ours = Self.changes(from: base, to: original)
    let others = theirs.filter { !ours.contains($0) }
    guard !others.contains(where: { one in ours.contains(where: one.meets) }), !haveCommonLine(others, ours) else { return nil }
    return try secret(of: Self.apply(ours + others, to: base))
  }

  private mutating func numbers(of text: SourceText) -> [Int] {
    var (found, start) = ([Int](), 0)
    while true {
      let end = text.offset(of: UInt8(ascii: "\n"), in: start..<text.count) ?? text.count
      let line = Line(text: text, range: start..<end)
      if numbers[line] == nil {
        numbers[line] = lines.count
        lines.append(line)
      }
      numbers[line].map { found.append($0) }
      guard end < text.count else { return found }
      start = end + 1
    }
  }

  /// A person who copies a reference of the sweep needs its item, which an undo would remove.
  private func isReference(_ number: Int) -> Bool {
    let line = lines[number]
    return line.range.contains { line.text.holds("coffer://", at: $0) }
  }

  /// The original may have a change of the person already, if a sweep was killed at the right moment. Twice would be once too often.
  private func haveCommonLine(_ some: [Change], _ others: [Change]) -> Bool {
    !Set(some.flatMap(\.lines)).intersection(others.flatMap(\.lines)).allSatisfy { lines[$0].range.isEmpty }
  }

  private static func changes(from base: [Int], to other: [Int]) -> [Change] {
    let difference = other.difference(from: base)
    let removed = Set(difference.removals.map(\.place))
    let inserted = Set(difference.insertions.map(\.place))
    var changes: [Change] = []
    var (from, to) = (0, 0)
    while from < base.count || to < other.count {
      let start = (from, to)
      while removed.contains(from) || inserted.contains(to) {
        if removed.contains(from) { from += 1 } else { to += 1 }
      }
      if start == (from, to) {
        (from, to) = (from + 1, to + 1)
      } else {
        changes += Change(range: start.0..<from, lines: Array(other[start.1..<to])).byLine
      }
    }
    return changes
  }

  private static func apply(_ changes: [Change], to base: [Int]) -> [Int] {
    var (result, from) = ([Int](), 0)
    for change in changes.sorted(by: { ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound) })
    {
      result += base[from..<change.range.lowerBound] + change.lines
      from = change.range.upperBound
    }
    return result + base[from...]
  }

  private func secret(of numbers: [Int]) throws -> Secret {
    let found = numbers.map { lines[$0] }
    var secret = try Secret(count: found.reduce(max(0, found.count - 1)) { $0 + $1.range.count })
    var end = 0
    for (index, line) in found.enumerated() {
      if index > 0 {
        secret.write(UInt8(ascii: "\n"), at: end)
        end += 1
      }
      for offset in line.range {
        secret.write(line.text[offset], at: end)
        end += 1
      }
    }
    return secret
  }
}

extension CollectionDifference.Change {
  fileprivate var place: Int {
    switch self {
    case .insert(let offset, _, _), .remove(let offset, _, _): offset
    }
  }
}
