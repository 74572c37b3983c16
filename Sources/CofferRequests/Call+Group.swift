package import CofferWire
package import VaultCore

extension Call {
  /// The group that it concerns, where it says so: of a move the one where the item lies.
  package var group: AccessGroup? {
    borrowing get {
      switch self {
      case .items(_, let group, _): group
      case .contains(let group): group
      case .entry(let reference): reference.group
      case .secret(let reference, purpose: _): reference.group
      case .add(_, _, let group, _, installBound: _): group
      case .update(let reference, generation: _, _, _): reference.group
      case .move(let reference, generation: _, _, _): reference.group
      case .remove(let reference): reference.group
      case .discard(_, let group): group
      case .apps(.grant(_, let group, _, asksForConfirmation: _)): group
      case .apps(.revoke(_, let group)): group
      default: nil
      }
    }
  }

  /// The item that it concerns, if it names one.
  package var item: Identifier? {
    borrowing get {
      switch self {
      case .entry(let reference): reference.id
      case .secret(let reference, purpose: _): reference.id
      case .update(let reference, generation: _, _, _): reference.id
      case .move(let reference, generation: _, _, _): reference.id
      case .remove(let reference): reference.id
      default: nil
      }
    }
  }
}
