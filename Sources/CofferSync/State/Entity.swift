package import VaultCore

/// The name of an entity. The kind is part of it: an operation without content does not prove that its tag is of its kind.
package struct EntityKey: Hashable, Comparable, Sendable {
  package let kind: Kind
  package let tag: Identifier

  package init(_ kind: Kind, _ tag: Identifier) { (self.kind, self.tag) = (kind, tag) }

  package static func < (left: EntityKey, right: EntityKey) -> Bool {
    (left.tag, left.kind.rawValue) < (right.tag, right.kind.rawValue)
  }
}

extension Operation {
  package var key: EntityKey { EntityKey(kind, tag) }
}

/// A value that was written and that no author who saw it has replaced.
package struct Write: Equatable, Sendable {
  package let dot: Identifier
  package let modified: Int64
  package let value: Value
  /// The number of checkpoints that had been folded when it was.
  let generation: UInt64

  func isShownBefore(_ other: Write) -> Bool { (modified, dot) > (other.modified, other.dot) }
}

/// An item or a setting: for each register the live writes, and the dots that are gone. Section 5.3 of docs/sync-format.md.
package struct Entity: Equatable, Sendable {
  struct Gone: Hashable, Comparable {
    /// Returns nil for an operation that was refused.
    let register: Register?
    let dot: Identifier

    static func < (left: Gone, right: Gone) -> Bool {
      (left.dot, left.register?.rawValue ?? 0) < (right.dot, right.register?.rawValue ?? 0)
    }
  }

  struct Mark: Equatable {
    let generation: UInt64
    /// False for a dot that an operation replaced before the one with the dot came.
    var isFolded: Bool
  }

  /// The live writes of a register. An author names all that it saw, and a member could make as many as it likes.
  static let maximumLiveCount = 256

  private(set) var content: [Write] = []
  private(set) var secret: [Write] = []
  private(set) var life: [Write] = []
  private(set) var gone: [Gone: Mark] = [:]

  init() {}

  /// The live writes of a register, the shown one first.
  package internal(set) subscript(register: Register) -> [Write] {
    get {
      switch register {
      case .content: content
      case .secret: secret
      case .life: life
      }
    }
    set {
      switch register {
      case .content: content = newValue
      case .secret: secret = newValue
      case .life: life = newValue
      }
    }
  }

  package func shown(_ register: Register) -> Value? { self[register].first?.value }

  /// The values that were written by devices which did not know of each other, without the shown one; equal ones once.
  package func conflicts(_ register: Register) -> [Value] {
    self[register].dropFirst().reduce(into: []) { conflicts, write in
      if write.value != shown(register), !conflicts.contains(write.value) { conflicts.append(write.value) }
    }
  }

  /// An edit beats a deletion that did not know of it.
  package var exists: Bool { life.contains { $0.value == Operation.alive } }

  /// The shown write of a setting, nil if it does not exist. A deletion replaces the lives of the values that its author saw, and their
  /// contents stay: none of these may be shown again because a write of another device keeps the setting.
  package var setting: Write? {
    content.first { write in life.contains { $0.dot == write.dot && $0.value == Operation.alive } }
  }

  /// Whether the operation with this dot was folded.
  package func knows(_ dot: Identifier) -> Bool {
    if Register.allCases.contains(where: { self[$0].contains { $0.dot == dot } }) { return true }
    return gone[Gone(register: nil, dot: dot)] != nil
      || Register.allCases.contains { gone[Gone(register: $0, dot: dot)]?.isFolded == true }
  }

  mutating func apply(_ operation: Operation, generation: UInt64) {
    for part in operation.parts {
      for dot in part.replaced {
        let key = Gone(register: part.register, dot: dot)
        let wasLive = self[part.register].contains { $0.dot == dot }
        if wasLive { self[part.register].removeAll { $0.dot == dot } }
        if gone[key] == nil { gone[key] = Mark(generation: generation, isFolded: wasLive) }
      }
      let own = Gone(register: part.register, dot: operation.dot)
      guard gone[own] == nil else {
        gone[own]?.isFolded = true
        continue
      }
      add(
        Write(dot: operation.dot, modified: operation.modified, value: part.value, generation: generation), to: part.register)
      if self[part.register].count > Self.maximumLiveCount, let last = self[part.register].popLast() {
        gone[Gone(register: part.register, dot: last.dot)] = Mark(generation: generation, isFolded: true)
      }
    }
  }

  /// Whether a fold can have made it.
  var isWithinLimits: Bool { Register.allCases.allSatisfy { self[$0].count <= Self.maximumLiveCount } }

  mutating func refuse(_ operation: Operation, generation: UInt64) {
    gone[Gone(register: nil, dot: operation.dot)] = Mark(generation: generation, isFolded: true)
  }

  mutating func add(_ write: Write, to register: Register) {
    let index = self[register].firstIndex { write.isShownBefore($0) } ?? self[register].count
    self[register].insert(write, at: index)
  }

  mutating func add(_ key: Gone, _ mark: Mark) { gone[key] = mark }

  /// Forgets the dots that are gone since before `generation`.
  /// - Returns: False if the entity is to be forgotten as well.
  mutating func age(before generation: UInt64) -> Bool {
    if gone.values.contains(where: { $0.generation < generation }) { gone = gone.filter { $0.value.generation >= generation } }
    if exists || !gone.isEmpty { return true }
    return Register.allCases.contains { self[$0].contains { $0.generation >= generation } }
  }
}
