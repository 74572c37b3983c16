import CofferPropertyLists

/// The changes between two moments, with each key once, or once per commit. Empty if there are no observers.
struct ChangeCollector {
  /// In the order of the first change of each key.
  private var changes: [(key: PropertyListDictionary.Key, old: PropertyListValue?, new: PropertyListValue?)] = []
  /// The index of each key in `changes`, used beyond `fewCount` changes. Most commits have one.
  private var indices: [PropertyListDictionary.Key: Int] = [:]
  private let isWanted: Bool
  /// Keeps each commit separately. Otherwise all commits are merged, which needs no more memory than the values.
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

  /// Separates later changes from earlier ones, if `isSplit`.
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

  /// The commits in order; a single one if the collector is not split.
  mutating func takeCommits() -> [[PreferenceChange.Key]] {
    let last = take()
    defer { commits = [] }
    return last.isEmpty ? commits : commits + [last]
  }

  var isEmpty: Bool { changes.isEmpty && commits.isEmpty }

  /// In the order of the first change of each key. Keys whose value ends up equal are left out.
  mutating func take() -> [PreferenceChange.Key] {
    guard !changes.isEmpty else { return [] }
    defer {
      changes = []
      indices = [:]
    }
    return changes.compactMap { $0.old == $0.new ? nil : PreferenceChange.Key($0.key.name, old: $0.old, new: $0.new) }
  }
}
