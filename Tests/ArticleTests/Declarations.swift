#if Combine
import Foundation
import PreferenceStoreCombine

import class PreferenceStore.UserDefaults

// Settings as declared in articles on SwiftUI.

enum Options: Int {
  case a, b, c, d
}

struct OptionView: View {
  @AppStorage("options") var options: Options = .a
  var body: some Any {
    Text("\(options)")
    Button("c") { options = .c }
  }
}

struct DateView: View {
  @AppStorage("date") var date = Date(timeIntervalSinceReferenceDate: 0)
  @AppStorage("selections") var selections = [3, 4, 5]
  var body: some Any {
    Text("\(date.timeIntervalSinceReferenceDate)")
    Text("\(selections.count)")
    Button("now") { date = Date(timeIntervalSinceReferenceDate: 0.5) }
    Button("add") { selections.append(contentsOf: [1, 2]) }
  }
}

struct ContentView: View {
  @AppStorage("username") var username: String = "Anonymous"
  @AppStorage("isOn") var isOn: Bool = false
  @AppStorage(UserDefaults.Key.number.rawValue, store: .appGroup) var number: Int = 0
  @AppStorage("nothing") var nothing: String?

  var body: some Any {
    List {
      Text(username)
      Text("\(number)")
      TextField("Name", text: $username)
      Toggle("On", isOn: $isOn)
      Button("Random") { number = Int.random(in: 1...99) }
    }
  }
}

public enum Configuration {
  static let name = AppStorage(wrappedValue: "fatbobman", "name")
  static let age = AppStorage(wrappedValue: 12, "age")
}

struct ConfigurationView: View {
  let name = Configuration.name
  var body: some Any {
    Text(name.wrappedValue)
    TextField("name", text: name.projectedValue)
  }
}

struct SharedConfigurationView: View {
  var name = Configuration.name
  var body: some Any {
    Text(name.wrappedValue)
    Button("Change") { name.wrappedValue = "hello" }
  }
}

class Defaults: ObservableObject {
  static let shared = Defaults()

  @AppStorage("name") public var name = "fatbobman"
  @AppStorage("age") public var age = 12
  @AppStorage("date") public var date = Date()
  @AppStorage("colors") public var colors: [String] = []
}

@propertyWrapper
public struct Default<T>: DynamicProperty {
  @ObservedObject private var defaults: Defaults
  private let keyPath: ReferenceWritableKeyPath<Defaults, T>
  init(_ keyPath: ReferenceWritableKeyPath<Defaults, T>, defaults: Defaults = .shared) {
    self.keyPath = keyPath
    self.defaults = defaults
  }

  public var wrappedValue: T {
    get { defaults[keyPath: keyPath] }
    nonmutating set { defaults[keyPath: keyPath] = newValue }
  }

  public var projectedValue: Binding<T> {
    Binding(
      get: { defaults[keyPath: keyPath] },
      set: { value in
        defaults[keyPath: keyPath] = value
      }
    )
  }
}

struct DefaultView: View {
  @Default(\.name) var name
  @Default(\.age) var age
  var body: some Any {
    Text(name)
    TextField("name", text: $name)
    Stepper("age", value: $age)
  }
}

struct ObservedView: View {
  @ObservedObject var defaults = Defaults.shared
  var body: some Any {
    Text(defaults.name)
    TextField("name", text: defaults.$name)
    TextField("name", text: $defaults.name)
  }
}

struct RootView: View {
  @StateObject var defaults = Defaults()
  @SceneStorage("tab") var tab = 0
  @SceneStorage("option") var option: Options = .b
  @SceneStorage("draft") var draft: String?
  var body: some Any {
    Text(defaults.name)
    TextField("name", text: $defaults.name)
    Text("\(tab) \(option) \(draft ?? "no draft")")
    Stepper("tab", value: $tab)
    Button("write") { draft = "text" }
  }
}
#endif
