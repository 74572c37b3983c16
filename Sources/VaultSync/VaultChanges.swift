package import VaultCore

/// The items of a vault that may have changed.
package enum VaultChanges: Equatable, Sendable {
  case all
  case items(Set<Reference>)

  package static let none = VaultChanges.items([])

  package var isEmpty: Bool { self == .none }

  /// Notes an item.
  package mutating func add(_ reference: Reference) {
    if case .items(var references) = self {
      self = .none
      references.insert(reference)
      self = .items(references)
    }
  }

  /// Notes those of another list.
  package mutating func add(_ other: VaultChanges) {
    switch (self, other) {
    case (.items(let own), .items(let others)): self = .items(own.union(others))
    default: self = .all
    }
  }
}
