package import CofferWire

extension Call {
  /// As it is called in the audit log. Nil for what is no question about items.
  package var itemOperation: Operation? {
    borrowing get {
      switch self {
      case .entitlements: .entitlements
      case .items: .items
      case .contains: .contains
      case .entry: .entry
      case .secret: .secret
      case .add: .add
      case .update: .update
      case .move: .move
      case .remove: .remove
      case .discard: .discard
      default: nil
      }
    }
  }
}
