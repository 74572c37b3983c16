package import VaultCore

/// The writes of an item or a setting that a person saw, by register: a change replaces them, and no others.
package struct SeenWrites: Equatable, Sendable {
  package var content: Set<Identifier> = []
  package var secret: Set<Identifier> = []
  package var life: Set<Identifier> = []

  package init() {}

  /// All live writes.
  package init(_ entity: Entity?) {
    guard let entity else { return }
    for register in Register.allCases { self[register] = Set(entity[register].map(\.dot)) }
  }

  package subscript(register: Register) -> Set<Identifier> {
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
}
