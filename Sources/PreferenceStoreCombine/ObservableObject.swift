@_exported public import OpenCombine
@_exported public import PreferenceStore
internal import Preferences
internal import Synchronization

/// Combine's protocol, for classes with settings in them: `objectWillChange` fires before each change of a property with
/// `@AppStorage`, once, whoever makes the change, and also before those of properties with `@Published`.
///
/// ```swift
/// final class Settings: ObservableObject {
///   @AppStorage("name") var name = "Ada"
///   @Published var isOpen = false
/// }
/// ```
///
/// Where several threads change one setting at the same moment, or who is told changes it, it may fire once more than there are changes,
/// never less. It fires on the thread that makes the change; for one of another process on a thread of the store. While it fires, that thread still
/// reads the old value, and all others the one that is stored.
///
/// Where `OpenCombine` is imported too, `import protocol PreferenceStoreCombine.ObservableObject` says which is meant: objects of
/// OpenCombine's own protocol have no settings that fire.
public protocol ObservableObject: OpenCombine.ObservableObject {}

extension ObservableObject where ObjectWillChangePublisher == ObservableObjectPublisher {
  /// A publisher that emits before the object has changed. The same at each call, where the object has a property that can fire.
  public var objectWillChange: ObservableObjectPublisher { Publishers.publisher(of: self) }
}

/// Finds the publisher of an object among its properties, or puts one there: so it lives as long as they do.
private enum Publishers {
  /// Two threads that ask for the publisher of one object get the same.
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

  /// Also those of its superclasses.
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

/// Has OpenCombine's own `objectWillChange`, which looks for properties with `@Published` in a mirror: that of the object.
private final class PublishedProperties: OpenCombine.ObservableObject, CustomReflectable {
  let object: AnyObject
  init(of object: AnyObject) { self.object = object }
  var customMirror: Mirror { Mirror(reflecting: object) }
}

private final class PublisherOwner: SettingOwner, @unchecked Sendable {
  /// Locks by itself.
  let publisher: ObservableObjectPublisher
  init(_ publisher: ObservableObjectPublisher) { self.publisher = publisher }
  func settingWillChange() { publisher.send() }
}
