import PropertyLists

/// What changed between two moments, each key once, or each key once per commit. Collects nothing where nobody wants to know.
struct ChangeCollector {
  /// In the order in which they were first changed.
  private var changes: [(key: PropertyListDictionary.Key, old: PropertyListValue?, new: PropertyListValue?)] = []
  /// Where a key lies in `changes`, once they are too many to look at each. Mostly there is one.
  private var indices: [PropertyListDictionary.Key: Int] = [:]
  private let isWanted: Bool
  /// Keeps each commit by itself. Otherwise all commits are merged, which takes no more room than the values.
  var isSplit = false { didSet { endCommit() } }
  private var commits: [[PreferenceChange.Key]] = []

  private static let fewCount = 8

  init(isWanted: Bool) { self.isWanted = isWanted }

  mutating func note(_ key: PropertyListDictionary.Key, old: PropertyListValue?, new: PropertyListValue?) {
    guard isWanted else { return }
    if let index = index(of: key) {
      changes[index].new = new
      return
    }
    changes.append((key, old, new))
    if changes.count == Self.fewCount {
      for (index, change) in changes.enumerated() { indices[change.key] = index }
    } else if changes.count > Self.fewCount {
      indices[key] = changes.count - 1
    }
  }

  private func index(of key: PropertyListDictionary.Key) -> Int? {
    changes.count < Self.fewCount ? changes.firstIndex { $0.key == key } : indices[key]
  }

  mutating func note(from old: PropertyListDictionary, to new: PropertyListDictionary) {
    guard isWanted else { return }
    for (key, value) in old.entries where new[key] != value { note(key, old: value, new: new[key]) }
    for (key, value) in new.entries where old[key] == nil { note(key, old: nil, new: value) }
  }

  /// Keeps what comes next apart from what came before, if `isSplit`.
  mutating func endCommit() {
    guard isSplit, !changes.isEmpty else { return }
    let keys = take()
    if !keys.isEmpty { commits.append(keys) }
  }

  mutating func append(_ later: ChangeCollector) {
    endCommit()
    var later = later
    commits += later.takeCommits()
  }

  /// In their order; one if the collector is not split.
  mutating func takeCommits() -> [[PreferenceChange.Key]] {
    let last = take()
    defer { commits = [] }
    return last.isEmpty ? commits : commits + [last]
  }

  var isEmpty: Bool { changes.isEmpty && commits.isEmpty }

  /// In the order in which they were first changed. Those that are what they were are no change.
  mutating func take() -> [PreferenceChange.Key] {
    guard !changes.isEmpty else { return [] }
    defer {
      changes = []
      indices = [:]
    }
    return changes.compactMap { $0.old == $0.new ? nil : PreferenceChange.Key($0.key.name, old: $0.old, new: $0.new) }
  }
}
