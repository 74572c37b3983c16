internal import Glibc
internal import SecretMemory

/// Forms in the order of their bytes. Those that begin alike are neighbours, so that output is compared with all of them at once, as with
/// a tree of their bytes; only their order lies outside of locked memory.
@safe struct SortedForms {
  private(set) var forms: [SecretForm] = []
  /// For each form the bytes that can be reached by their number: all of a plain one, and the decisive ones of another.
  private var starts: [UnsafePointer<UInt8>] = unsafe []
  private var counts: [Int] = []
  /// For each form that is longer than the decisive bytes the first secret with such a form that begins with the same ones.
  private var owners: [Int] = []
  /// The decisive bytes of the forms that are computed.
  private var computed: [HeldSecret] = []

  @safe private struct Entry {
    let form: SecretForm
    let index: Int
    let start: UnsafePointer<UInt8>
    let count: Int
  }

  /// - Throws: as `Secret(count:)`.
  init(_ unsorted: [SecretForm]) throws {
    var entries: [Entry] = []
    for (index, form) in unsorted.enumerated() {
      let known = try form.computedBegin()
      if let known { computed.append(known) }
      // A secret does not move, and `computed` keeps it.
      let start = unsafe known?.secret.withPointer { unsafe $0 } ?? form.bytes
      entries.append(unsafe Entry(form: form, index: index, start: start, count: known?.count ?? form.count))
    }
    entries.sort { Self.order($0, $1) < 0 || Self.order($0, $1) == 0 && $0.index < $1.index }
    var last: Entry?
    for entry in entries {
      // The first of equal ones has the name. Only the begin is known of long ones that are computed.
      if let last, Self.order(last, entry) == 0, !entry.form.isLong || entry.form.isPlain { continue }
      last = entry
      forms.append(entry.form)
      unsafe starts.append(entry.start)
      counts.append(entry.count)
    }
    owners = forms.map(\.owner)
    for index in forms.indices.dropFirst() where beginsAlike(index - 1, index) {
      owners[index] = min(owners[index - 1], owners[index])
    }
    for index in forms.indices.dropFirst().reversed() where beginsAlike(index - 1, index) { owners[index - 1] = owners[index] }
  }

  /// By the decisive bytes; then plain ones before others, by all of their bytes.
  private static func order(_ first: Entry, _ second: Entry) -> Int {
    let decisive = compare(first, second, limit: ConcealedSecrets.decisiveCount)
    guard decisive == 0, first.form.isLong, second.form.isLong else { return decisive }
    guard first.form.isPlain, second.form.isPlain else { return (first.form.isPlain ? 0 : 1) - (second.form.isPlain ? 0 : 1) }
    return compare(first, second, limit: .max)
  }

  /// One that is the begin of the other comes first.
  private static func compare(_ first: Entry, _ second: Entry, limit: Int) -> Int {
    let counts = (min(limit, first.count), min(limit, second.count))
    let order = unsafe Int(memcmp(first.start, second.start, min(counts.0, counts.1)))
    guard order == 0 else { return order }
    // The longer one of two that are equal up to the limit is behind.
    let isLonger = (first.form.isLong ? 1 : 0) - (second.form.isLong ? 1 : 0)
    return counts.0 == counts.1 ? isLonger : counts.0 - counts.1
  }

  private func beginsAlike(_ index: Int, _ next: Int) -> Bool {
    guard forms[index].isLong, forms[next].isLong else { return false }
    return unsafe memcmp(starts[index], starts[next], ConcealedSecrets.decisiveCount) == 0
  }

  /// Whether a form ends behind as many bytes, which can be reached by their number.
  func hasEnd(_ index: Int, at count: Int) -> Bool { counts[index] == count && (forms[index].isPlain || !forms[index].isLong) }

  /// The first secret with a form that is longer than the decisive bytes and begins with the same ones.
  func firstOwner(_ index: Int) -> Int { owners[index] }

  /// - Parameters:
  ///   - range: Forms that have the first bytes in common, as many as `count`, and go on.
  ///   - count: At most as many as can be reached by their number.
  ///   - byte: The next one.
  /// - Returns: Those that go on with it.
  func goingOn(_ range: Range<Int>, at count: Int, with byte: UInt8) -> Range<Int> {
    guard let first = range.first, let last = range.last else { return range }
    if unsafe starts[first][count] == byte, unsafe starts[last][count] == byte { return range }
    let lower = partition(range) { unsafe starts[$0][count] >= byte }
    return lower..<partition(lower..<range.upperBound) { unsafe starts[$0][count] > byte }
  }

  private func partition(_ range: Range<Int>, _ isBehind: (Int) -> Bool) -> Int {
    var (lower, upper) = (range.lowerBound, range.upperBound)
    while lower < upper {
      let middle = lower + (upper - lower) / 2
      if isBehind(middle) { upper = middle } else { lower = middle + 1 }
    }
    return lower
  }
}
