import SecretMemory
public import VaultCore

/// Apps and their rights, as the vault remembers them.
extension Vault {
  /// The pin of an app by `TEAM.identifier`. Nil is a proven absence: it was never installed.
  /// - Throws: `locked` where a locked vault does not know it; integrity errors.
  public borrowing func pin(_ application: String) throws -> AppPin? {
    try rule(.pin(application)).map { try AppPin($0) }
  }

  /// Every pin, ordered by team and name.
  /// - Throws: integrity errors.
  public borrowing func pins() throws -> [AppPin] {
    try rules().filter { $0.kind == .pin }.map { try AppPin($0) }
      .sorted { $0.applicationIdentifier.order($1.applicationIdentifier) < 0 }
  }

  /// Every grant, or those of one app, ordered by app and group. Of a locked vault those that were not changed since it was
  /// locked.
  /// - Throws: integrity errors.
  public borrowing func grants(to application: String? = nil) throws -> [Grant] {
    try grants(to: application) { throw $0 }
  }

  private borrowing func grants(to application: String?, damaged: (VaultError) throws -> Void) throws -> [Grant] {
    try rules(damaged: damaged).filter { $0.kind == .grant }.map { try Grant($0) }
      .filter { grant in application.map { grant.application.order($0) == 0 } ?? true }
      .sorted { left, right in
        let order = left.application.order(right.application)
        return order == 0 ? left.group < right.group : order < 0
      }
  }

  /// The present rights of the app of a manifest: those of the manifest, and those that the owner has granted.
  /// - Throws: `appNotInstalled` if the vault has no pin of it, or it was removed; integrity errors.
  public borrowing func entitlements(of signed: SignedManifest) throws -> Entitlements {
    let application = signed.manifest.applicationIdentifier
    guard let pin = try pin(application), pin.removed == nil else { throw VaultError(.appNotInstalled, application) }
    // A grant that is missing or damaged takes rights away, and the damage of one record is not every app's affair.
    return Entitlements(signed.manifest, granted: try grants(to: application, damaged: { _ in }).map(\.entitlement))
  }
}

extension Transaction {
  /// Remembers that an app is installed, and makes those of its groups that are not there yet.
  /// - Returns: The pin as it was before. Nil: it is the first time.
  /// - Throws: `appDowngrade` where a higher version was installed once; integrity errors.
  @discardableResult
  public mutating func install(_ signed: SignedManifest, at now: Timestamp) throws -> AppPin? {
    let before = try pin(signed.manifest.applicationIdentifier)
    if let before, signed.manifest.version < before.version {
      throw VaultError(.appDowngrade, "version \(signed.manifest.version) after \(before.version)")
    }
    var pin = before ?? AppPin(signed, at: now)
    pin.version = signed.manifest.version
    pin.displayName = signed.manifest.displayName
    pin.removed = nil
    if pin != before { try putRule(pin.attributes) }
    for held in Entitlements(signed.manifest).groups where try !contains(held.group) {
      try createGroup(held.group, at: now)
    }
    return before
  }

  /// The app goes; its pin, its grants and its items stay.
  /// - Throws: `appNotInstalled`; integrity errors.
  public mutating func markRemoved(_ application: String, at now: Timestamp) throws {
    guard var pin = try pin(application), pin.removed == nil else { throw VaultError(.appNotInstalled, application) }
    pin.removed = now
    try putRule(pin.attributes)
  }

  /// - Throws: integrity errors.
  public mutating func put(_ grant: Grant) throws { try putRule(grant.attributes) }

  /// - Throws: `notFound`; integrity errors.
  public mutating func removeGrant(to application: String, _ group: AccessGroup) throws {
    try removeRule(.grant(application, group))
  }

  /// The vault forgets that there was such an app. Its groups and items are not touched.
  /// - Throws: `notFound`; integrity errors.
  public mutating func removePin(_ application: String) throws {
    try removeRule(.pin(application))
  }

  private mutating func pin(_ application: String) throws -> AppPin? {
    try rule(.pin(application)).map { try AppPin($0) }
  }
}
