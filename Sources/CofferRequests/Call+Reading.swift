package import CofferWire
package import VaultCore

extension Call {
  /// The item whose secret is asked for.
  package var secretReference: Reference? {
    borrowing get {
      switch self {
      case .secret(let reference, _): reference
      default: nil
      }
    }
  }

  /// Whether it changes nothing.
  package var isReading: Bool { borrowing get { Self.reading(self) != nil } }

  /// The same call once more, where it only reads and may be asked twice.
  package static func reading(_ call: borrowing Call) -> Call? {
    switch call {
    case .entitlements: .entitlements
    case .items(let itemClass, let group, let attributes): .items(itemClass, group, attributes)
    case .contains(let group): .contains(group)
    case .entry(let reference): .entry(reference)
    case .secret(let reference, let purpose): .secret(reference, purpose: purpose)
    default: nil
    }
  }
}
