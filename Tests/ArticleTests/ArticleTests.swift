#if Combine
import CofferPreferences
import Foundation
import Observation
import PreferenceStoreCombine
import Testing

import class PreferenceStore.UserDefaults

/// SwiftUI code from articles behaves here as with SwiftUI. Serialized, because the tests share the declarations.
@Suite(.serialized) struct ArticleTests {
  private static let root = FileManager.default.temporaryDirectory.appending(path: "coffer-article-\(UUID())")

  private func with(_ body: (UserDefaults) throws -> Void) throws {
    let root = Self.root.appending(path: "\(UUID())")
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: Self.root) }
    let lists = SearchLists(
      places: SearchPlaces(user: root.path, managed: "\(root.path)/managed", anyUser: "\(root.path)/any"),
      volatileDomains: VolatileDomains(arguments: []), source: FileDomainSource())
    let store = UserDefaults(lists, try DomainName("com.example.app"))
    try UserDefaults.withDefaultAppStorage(store) { try body(store) }
  }

  private final class Count: @unchecked Sendable {
    var value = 0
  }

  /// The number of notifications for a view that is drawn again each time.
  private func invalidations(_ view: some View, _ changes: [() -> Void]) -> [Int] {
    changes.map { change in
      let count = Count()
      withObservationTracking {
        _ = view.body
      } onChange: {
        count.value += 1
      }
      change()
      return count.value
    }
  }

  @Test("@StateObject and @SceneStorage: an object that is made once, and values of a scene that are stored in no file")
  func objectsAndScenes() throws {
    try with { store in
      let (view, other) = (RootView(), RootView())
      #expect(view.defaults === view.defaults)
      #expect(view.defaults !== other.defaults)
      #expect(Controls.texts(in: view) == ["fatbobman", "0 b no draft"])
      #expect(
        invalidations(view, [{ other.tab = 1 }, { store.set("Ada", forKey: "name") }, { store.set(9, forKey: "tab") }]) == [
          1, 1, 0,
        ])
      Controls.press("write", in: view)
      other.option = .c
      #expect(Controls.texts(in: view) == ["Ada", "1 c text"])
      var changes = 0
      let observation = view.defaults.objectWillChange.sink { changes += 1 }
      view.tab = 2
      #expect(changes == 0)
      view.$defaults.name.wrappedValue = "Grace"
      #expect(changes == 1)
      #expect(store.string(forKey: "name") == "Grace")
      for key in ["tab", "option", "draft"] { #expect(store.explain(key).allSatisfy { $0.value == nil || key == "tab" }) }
      #expect(store.integer(forKey: "tab") == 9)
      observation.cancel()
    }
  }

  @Test("a program's own extension Date: RawRepresentable compiles, and is the one that is used")
  func date() throws {
    try with { store in
      let view = DateView()
      #expect(Controls.texts(in: view).first == "0.0")
      Controls.press("now", in: view)
      #expect(store.string(forKey: "date") == "0.5")
      #expect(Controls.texts(in: view).first == "0.5")
      store.set("no date", forKey: "date")
      #expect(Controls.texts(in: view).first == "0.0")
    }
  }

  @Test("a program's own extension Array: RawRepresentable compiles, and is the one that is used")
  func array() throws {
    try with { store in
      let view = DateView()
      #expect(view.selections.elementsEqual([3, 4, 5]))
      Controls.press("add", in: view)
      #expect(store.string(forKey: "selections") == "[3,4,5,1,2]")
      #expect(view.selections.elementsEqual([3, 4, 5, 1, 2]))
      store.set("[3,", forKey: "selections")
      #expect(view.selections.elementsEqual([3, 4, 5]))
      #expect(store.string(forKey: "selections") == "[3,")
    }
  }

  @Test("an enum with raw values is used directly")
  func options() throws {
    try with { store in
      let view = OptionView()
      #expect(Controls.texts(in: view) == ["a"])
      #expect(invalidations(view, [{ Controls.press("c", in: view) }]) == [1])
      #expect(Controls.texts(in: view) == ["c"])
      #expect(store.integer(forKey: "options") == 2)
    }
  }

  @Test("stores and keys by extension, and a button that sets a random number")
  func contentView() throws {
    try with { store in
      let view = ContentView()
      #expect(Controls.texts(in: view).first == "Anonymous")
      for control in Controls.all(in: view) {
        if let field = control as? TextField { field.text = "Ada" }
        if let toggle = control as? Toggle { toggle.isOn.toggle() }
      }
      #expect(store.string(forKey: "username") == "Ada")
      #expect(store.bool(forKey: "isOn"))
      defer { UserDefaults.appGroup?.removeObject(forKey: "number") }
      #expect(invalidations(view, [{ view.number = 0 }, { Controls.press("Random", in: view) }]).last == 1)
      #expect(UserDefaults.appGroup?.integer(forKey: UserDefaults.Key.number.rawValue) == view.number)
      #expect((1...99).contains(view.number))
      #expect(view.nothing == nil)
    }
  }

  @Test("settings declared in one place refresh all of their users")
  func configuration() throws {
    try with { store in
      let (view, other) = (ConfigurationView(), SharedConfigurationView())
      #expect(Controls.texts(in: view) == ["fatbobman"])
      #expect(Configuration.age.wrappedValue == 12)
      let counts = invalidations(
        view,
        [
          { Controls.press("Change", in: other) }, { store.set("Ada", forKey: "name") }, { Configuration.age.wrappedValue = 1 },
        ])
      #expect(counts == [1, 1, 0])
      #expect(Controls.texts(in: other) == ["Ada"])
      Configuration.name.projectedValue.wrappedValue = "Grace"
      #expect(store.string(forKey: "name") == "Grace")
    }
  }

  @Test("a settings object, a wrapper of the program's own with key paths, and bindings")
  func settingsObject() throws {
    try with { store in
      let (view, observed) = (DefaultView(), ObservedView())
      let count = Count()
      let subscription = Defaults.shared.objectWillChange.sink { count.value += 1 }
      view.name = "Ada"
      for control in Controls.all(in: view) + Controls.all(in: observed) {
        (control as? TextField)?.text += "!"
        (control as? Stepper)?.value += 1
      }
      #expect(store.string(forKey: "name") == "Ada!!!")
      #expect(store.integer(forKey: "age") == 13)
      #expect(Controls.texts(in: observed) == ["Ada!!!"])
      #expect(count.value == 5)
      subscription.cancel()
      struct Given: View {
        @Default var name: String
        var body: some Any { Text(name) }
      }
      let given = Given(name: Default(\.name, defaults: Defaults()))
      #expect(Controls.texts(in: given) == ["Ada!!!"])
    }
  }

  @Test("fifty settings in one object, passed on as one")
  func fifty() throws {
    try with { store in
      let settings = FiftySettings()
      let count = Count()
      let subscription = settings.objectWillChange.sink { count.value += 1 }
      settings.setting0 = true
      settings.setting49 = .d
      settings.setting48 += "!"
      #expect(count.value == 3)
      let stored = store.dictionaryRepresentation().keys.filter { $0.hasPrefix("setting") }
      #expect(Set(stored) == ["setting0", "setting48", "setting49"])
      subscription.cancel()
    }
  }
}
#endif
