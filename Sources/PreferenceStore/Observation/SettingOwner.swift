/// An object that is notified before a property changes.
package protocol SettingOwner: AnyObject, Sendable {
  func settingWillChange()
}

/// A property wrapper that is found among the properties of an object.
package protocol SettingProperty {
  /// The object that is notified. The first owner that was set stays.
  var owner: (any SettingOwner)? { get }
  func setOwner(_ owner: any SettingOwner)
}

/// Notifies an owner of the changes of a key for the lifetime of this object.
final class SettingAnnouncement: Sendable {
  private let use: ObservedKeyUse
  private let id: Int

  init(_ use: ObservedKeyUse, to owner: any SettingOwner) {
    self.use = use
    id = use.key.add(owner)
  }

  deinit { use.key.remove(id) }
}
