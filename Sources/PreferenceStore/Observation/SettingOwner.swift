/// Wants to hear of the changes of a property before they are made.
package protocol SettingOwner: AnyObject, Sendable {
  func settingWillChange()
}

/// A property wrapper that is found among the properties of an object.
package protocol SettingProperty {
  /// Who hears of changes. The first one that was set stays.
  var owner: (any SettingOwner)? { get }
  func setOwner(_ owner: any SettingOwner)
}

/// Tells an owner of the changes of a key, as long as it is there.
final class SettingAnnouncement: Sendable {
  private let use: ObservedKeyUse
  private let id: Int

  init(_ use: ObservedKeyUse, to owner: any SettingOwner) {
    self.use = use
    id = use.key.add(owner)
  }

  deinit { use.key.remove(id) }
}
