package import CofferWire
package import VaultCore

/// What a call is going to do to items, as far as it can be told before.
package enum Intention: Sendable {
  case nothing
  case adding
  /// It may lie elsewhere afterwards.
  case changing(Reference)
  case removing(Reference)
  /// What cannot be read has no reference.
  case removingUnread

  /// What has been done, by the answer.
  package func notices(_ answer: borrowing Answer) -> [Notice] {
    switch (self, answer.newReference) {
    case (.adding, let new?): [.added(new)]
    case (.changing(let old), let new?): old == new ? [.updated(new)] : [.removed(old), .added(new)]
    case (.removing(let old), _): [.removed(old)]
    case (.removingUnread, _): [.missed]
    default: []
    }
  }
}

extension Call {
  package var intention: Intention {
    borrowing get {
      switch self {
      case .add: .adding
      case .update(let reference, generation: _, _, _): .changing(reference)
      case .move(let reference, generation: _, _, _): .changing(reference)
      case .remove(let reference): .removing(reference)
      case .discard: .removingUnread
      default: .nothing
      }
    }
  }
}

extension Answer {
  package var newReference: Reference? {
    borrowing get {
      switch self {
      case .reference(let reference): reference
      default: nil
      }
    }
  }
}
