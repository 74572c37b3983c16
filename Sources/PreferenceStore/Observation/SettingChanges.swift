public import CofferPreferences
internal import CofferPropertyLists
internal import Foundation
internal import Synchronization

extension Binding where Value: Sendable {
  /// Calls `action` on the main actor after each change of the setting, with the old and the new value; also for changes by other
  /// processes. Changes arrive in order, each as an event of the main queue, which must run, as it does if `main` is
  /// asynchronous.
  /// - Returns: The observation, which ends when it is deallocated: at once if that happens on the main actor. nil if the binding
  ///   is not to a setting.
  public func onChange(_ action: @escaping @MainActor (_ old: Value, _ new: Value) -> Void) -> PreferenceObservation? {
    location?.onChange(action)
  }
}

extension SearchList {
  func onChange<Value: Sendable>(
    _ name: String, _ form: StoredForm<Value>, _ initialValue: Value, _ action: @escaping @MainActor (Value, Value) -> Void
  ) -> PreferenceObservation {
    let isEnded = Flag()
    let observation = observe(name) { change in
      for key in change.keys {
        let old = self.read(key.old, forKey: name, as: form) ?? initialValue
        let new = self.read(key.new, forKey: name, as: form) ?? initialValue
        DispatchQueue.main.async {
          MainActor.assumeIsolated { if !isEnded.isSet { action(old, new) } }
        }
      }
    }
    return PreferenceObservation {
      isEnded.set()
      observation.cancel()
    }
  }
}

private final class Flag: Sendable {
  private let value = Atomic<Bool>(false)
  var isSet: Bool { value.load(ordering: .acquiring) }
  func set() { value.store(true, ordering: .releasing) }
}
