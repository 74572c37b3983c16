package import VaultCore

/// The writes of an item or a setting that a person saw, by register: a change replaces them, and no others.
package struct SeenWrites: Equatable, Sendable {
  /// Without registers of which none was seen.
  private var dots: [Register: Set<Identifier>] = [:]

  package init() {}

  /// All live writes.
  package init(_ entity: Entity?) {
    guard let entity else { return }
    for register in Register.allCases { self[register] = Set(entity[register].map(\.dot)) }
  }

  package subscript(register: Register) -> Set<Identifier> {
    get { dots[register] ?? [] }
    set { dots[register] = newValue.isEmpty ? nil : newValue }
  }
}
