package import VaultCore

/// The writes of an item or a setting that a person saw, by register: a change replaces them, and no others.
package struct SeenWrites: Equatable, Sendable {
  // Mostly each has one, and a space has as many of these as items: sets would be much of the time to read and compare them.
  private var content: [Identifier] = []
  private var secret: [Identifier] = []
  private var life: [Identifier] = []

  package init() {}

  /// All live writes.
  package init(_ entity: Entity?) {
    guard let entity else { return }
    for register in Register.allCases { self[register] = entity[register].map(\.dot) }
  }

  /// Ascending, each once.
  package subscript(register: Register) -> [Identifier] {
    get {
      switch register {
      case .content: content
      case .secret: secret
      case .life: life
      }
    }
    set {
      let dots = newValue.count < 2 ? newValue : Set(newValue).sorted()
      switch register {
      case .content: content = dots
      case .secret: secret = dots
      case .life: life = dots
      }
    }
  }
}
