package import CofferWire
internal import VaultCore

/// What one who watches may hear, by the rules as they are when it is told.
package struct NoticeFilter: Sendable {
  /// Whether something could not be judged, because the vault is locked.
  private var owesMissed = false

  package init() {}

  /// - Parameter caller: Who watches, found out anew.
  /// - Throws: what `caller` throws, but for `locked`: then nothing of items is told, and later that something was missed.
  package mutating func visible(_ notices: [Notice], _ caller: () throws -> Caller) throws -> [Notice] {
    do {
      let caller = try caller()
      let allowed = notices.filter { notice in
        guard let reference = notice.reference else { return true }
        return (try? caller.check(reference.group, .list)) != nil
      }
      defer { owesMissed = false }
      return owesMissed ? [.missed] + allowed : allowed
    } catch let error where KeychainError(error).code == .locked {
      let others = notices.filter { $0 == .locked || $0 == .unlocked }
      if others.count < notices.count { owesMissed = true }
      return others
    }
  }
}
