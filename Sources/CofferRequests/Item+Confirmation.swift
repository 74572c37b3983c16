public import VaultCore

extension Item {
  /// For how many minutes the owner may agree at most, where the owner is asked before the secret is given to anybody else: 0 for each
  /// time. Nil: nobody is asked because of the item.
  public var confirmMinutes: UInt64? {
    get { if case .integer(let minutes)? = attributes[Item.confirm] { minutes } else { nil } }
    set { attributes[Item.confirm] = newValue.map { .integer($0) } }
  }
}
