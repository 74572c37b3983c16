#if Combine
internal import CofferPreferences
@_exported public import OpenCombine
@_exported public import PreferenceStore
internal import Synchronization

/// Combine's protocol, for classes that contain settings: `objectWillChange` fires once before each change of a property with
/// `@AppStorage`, whichever thread or process makes the change, and before changes of properties with `@Published`.
///
/// ```swift
/// final class Settings: ObservableObject {
///   @AppStorage("name") var name = "Ada"
///   @Published var isOpen = false
/// }
/// ```
///
/// If several threads change one setting at the same moment, or an observer changes it, it may fire once more than there are
/// changes, never less. It fires on the thread that makes the change; for a change by another process on a thread of the store.
/// While it fires, that thread still reads the old value, and all other threads the stored one.
///
/// If `OpenCombine` is imported too, `import protocol PreferenceStoreCombine.ObservableObject` resolves the ambiguity: an object
/// of OpenCombine's own protocol does not fire for settings.
public protocol ObservableObject: OpenCombine.ObservableObject {}

extension ObservableObject where ObjectWillChangePublisher == ObservableObjectPublisher {
  /// A publisher that emits before the object changes. Returns the same publisher at each call if the object has a property that
  /// can fire.
  public var objectWillChange: ObservableObjectPublisher { Publishers.publisher(of: self) }
}

/// Finds the publisher of an object among its properties, or stores one there, so that it lives as long as the properties.
private enum Publishers {
  /// Held while a publisher is looked up, so that two threads get the same one.
  private static let finding = Mutex(())

  static func publisher(of object: AnyObject) -> ObservableObjectPublisher {
    finding.withLock { _ in
      let settings = settings(of: object)
      if let owner = settings.lazy.compactMap({ $0.owner as? PublisherOwner }).first {
        install(owner, settings)
        return owner.publisher
      }
      let owner = PublisherOwner(PublishedProperties(of: object).objectWillChange)
      install(owner, settings)
      return owner.publisher
    }
  }

  private static func install(_ owner: PublisherOwner, _ settings: [any SettingProperty]) {
    for setting in settings where setting.owner == nil { setting.setOwner(owner) }
  }

  /// Includes the settings of superclasses.
  private static func settings(of object: AnyObject) -> [any SettingProperty] {
    var settings: [any SettingProperty] = []
    var mirror: Mirror? = Mirror(reflecting: object)
    while let level = mirror {
      settings += level.children.compactMap { $0.value as? any SettingProperty }
      mirror = level.superclassMirror
    }
    return settings
  }
}

/// Calls OpenCombine's own `objectWillChange`, which finds properties with `@Published` by a mirror, with the mirror of the
/// object.
private final class PublishedProperties: OpenCombine.ObservableObject, CustomReflectable {
  let object: AnyObject
  init(of object: AnyObject) { self.object = object }
  var customMirror: Mirror { Mirror(reflecting: object) }
}

private final class PublisherOwner: SettingOwner, @unchecked Sendable {
  /// The publisher has its own lock.
  let publisher: ObservableObjectPublisher
  init(_ publisher: ObservableObjectPublisher) { self.publisher = publisher }
  func settingWillChange() { publisher.send() }
}
#endif
