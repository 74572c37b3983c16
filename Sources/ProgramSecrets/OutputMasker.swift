internal import Glibc
internal import SecretMemory

/// Conceals secrets in output that comes in pieces.
///
/// A byte is concealed if it belongs to an occurrence of a form. Occurrences that overlap are printed as one label, with the name of the
/// longest at the first place; of several, the name of the secret that was added first. How the output is cut into pieces changes nothing,
/// unless `release` is called.
///
/// The output passes through locked memory.
@safe package struct OutputMasker: ~Copyable {
  private let secrets: ConcealedSecrets
  private var buffer: Secret
  private let text: UnsafeMutablePointer<UInt8>
  private var isAtEnd = false
  // Offsets in the buffer.
  private var end = 0
  /// No occurrence begins before, but those that were found.
  private var searched = 0
  /// Where the occurrences end that were found.
  private var concealed = 0
  private var written = 0
  /// May be written up to here. Then follows `label`.
  private var writable = 0
  private var label: ArraySlice<UInt8> = []
  /// Occurrences of forms that are longer than the decisive bytes, which may go on; and those that have ended behind `searched`.
  private var trails: [FormTrail] = []
  /// How many bytes were compared: the measure of the work.
  package private(set) var comparedCount = 0

  /// Below this a tail is released.
  package static let releasedCount = 4

  /// - Throws: as `Secret(count:)`.
  package init(_ secrets: ConcealedSecrets, capacity: Int = 32 << 10) throws {
    self.secrets = secrets
    buffer = try Secret(count: capacity)
    unsafe text = buffer.withMutablePointer { unsafe $0 }
  }

  /// Takes output in. All that can be written must have been.
  /// - Parameter read: Fills the memory, and returns the count. 0 is not the end.
  package mutating func fill(_ read: (UnsafeMutableRawBufferPointer) throws -> Int) rethrows -> Int {
    let kept = min(written, searched)
    if kept > 0 {
      unsafe text.update(from: text + kept, count: end - kept)
      (end, searched, concealed) = (end - kept, searched - kept, max(0, concealed - kept))
      (written, writable) = (written - kept, writable - kept)
      for index in trails.indices { trails[index].move(by: kept) }
    }
    let count = unsafe try read(UnsafeMutableRawBufferPointer(start: text + end, count: buffer.count - end))
    end += count
    return count
  }

  /// No more output comes: what was held back can be written.
  package mutating func finish() { isAtEnd = true }

  /// Whether a tail is held back that is so short that a prompt may end with it.
  package var hasShortTail: Bool { written < end && searched >= concealed && end - searched < Self.releasedCount }

  /// Lets a short tail be written now. If it turns out to be the begin of a secret, the rest of that is concealed.
  package mutating func release() {
    if hasShortTail { writable = end }
  }

  /// Writes what is decided.
  /// - Parameter sink: Returns how much it has taken; 0: nothing can be written now.
  /// - Returns: Whether all was written, so that more can be filled in.
  package mutating func write(_ sink: (UnsafeRawBufferPointer) throws -> Int) rethrows -> Bool {
    while true {
      if written < writable {
        let count = unsafe try sink(UnsafeRawBufferPointer(start: text + written, count: writable - written))
        guard count > 0 else { return false }
        written += count
      } else if !label.isEmpty {
        let count = unsafe try label.withUnsafeBytes { unsafe try sink($0) }
        guard count > 0 else { return false }
        label = label.dropFirst(count)
      } else if !advance() {
        return true
      }
    }
  }

  // MARK: Search

  /// Searches until something can be written, or more output is needed.
  /// - Returns: false in the latter case.
  private mutating func advance() -> Bool {
    followTrails()
    while searched < end {
      if searched >= concealed {
        // The output behind it may belong to it: line ends within encoded text.
        guard !trails.contains(where: { $0.state == .open }) else { return false }
        let candidate = unsafe secrets.firstCandidate(in: text, from: searched, to: end)
        searched = candidate
        writable = max(written, candidate)
        if candidate == end { break }
      } else {
        (written, writable) = (max(written, searched), max(written, searched))
      }
      guard let found = occurrence(at: searched) else { break }
      if let owner = found.owner {
        if searched >= concealed { label = secrets.labels[owner][...] }
        concealed = max(concealed, found.end)
      }
      searched += 1
      trails.removeAll { $0.state != .open && $0.reached <= searched }
      if !label.isEmpty { return true }
      if searched == concealed { (written, writable) = (max(written, searched), max(written, searched)) }
    }
    if searched >= concealed { writable = max(written, searched) }
    return written < writable
  }

  private mutating func followTrails() {
    for index in trails.indices where trails[index].state == .open {
      var trail = trails[index]
      follow(&trail)
      trails[index] = trail
      concealed = max(concealed, trail.reached)
    }
    trails.removeAll { $0.state != .open && $0.reached <= searched }
  }

  private mutating func follow(_ trail: inout FormTrail) {
    let count = trail.count
    unsafe trail.follow(trail.isWrapped ? secrets.wrapped : secrets.whole, in: text, to: end)
    if isAtEnd { trail.end() }
    comparedCount += trail.count - count + 1
  }

  /// The occurrence that begins at an offset. Returns nil if that is not decided; without an owner if there is none.
  private mutating func occurrence(at start: Int) -> (end: Int, owner: Int?)? {
    guard let whole = begin(isWrapped: false, at: start), let wrapped = begin(isWrapped: true, at: start) else { return nil }
    var best: (end: Int, owner: Int?, count: Int) = (start, nil, 0)
    for begin in [whole, wrapped] {
      var found = begin.longest.map { [$0] } ?? []
      if let group = begin.group, let long = followGroup(group, begin, from: start) { found.append(long) }
      for one in found {
        best.end = max(best.end, one.end)
        guard one.count > best.count || one.count == best.count && one.owner < best.owner ?? .max else { continue }
        (best.owner, best.count) = (one.owner, one.count)
      }
    }
    return (best.end, best.owner)
  }

  /// - Returns: nil if more output has to decide.
  private mutating func begin(isWrapped: Bool, at start: Int) -> FormTrail? {
    let forms = isWrapped ? secrets.wrapped : secrets.whole
    var begin = FormTrail(forms, isWrapped: isWrapped, at: start)
    unsafe begin.begin(forms, in: text, to: end)
    comparedCount += begin.count + 1
    return begin.state == .open && !begin.isLong && !isAtEnd ? nil : begin
  }

  /// Returns nil within an occurrence of a long form that has the same decisive bytes: another one is not looked for there.
  private mutating func followGroup(_ group: Int, _ begin: FormTrail, from start: Int) -> (owner: Int, count: Int, end: Int)? {
    guard !trails.contains(where: { $0.isWrapped == begin.isWrapped && $0.group == group && $0.reached > start }) else {
      return nil
    }
    let forms = begin.isWrapped ? secrets.wrapped : secrets.whole
    var reached = start
    for var trail in begin.split(forms) {
      follow(&trail)
      reached = max(reached, trail.reached)
      trails.append(trail)
    }
    return (forms.firstOwner(group), ConcealedSecrets.decisiveCount, reached)
  }
}
