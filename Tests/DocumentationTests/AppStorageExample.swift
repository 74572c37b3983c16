#if Combine
import Foundation
import Observation
import PreferenceStoreCombine
import Testing

import class PreferenceStore.UserDefaults

enum Theme: String, Storable {
  case dark, light
}

struct PlayerSettings {
  @AppStorage("volume") var volume = 0.8
  @AppStorage("theme") var theme = Theme.dark
  @AppStorage("nickname", store: .family) var nickname: String?
}

extension UserDefaults {
  static let family = UserDefaults(suiteName: "com.example.family")
}

@MainActor func draw(_ settings: PlayerSettings) {
  withObservationTracking {
    print("volume:", settings.volume)
  } onChange: {
    // Called before the change: draw in the next turn of the main actor.
    Task { @MainActor in draw(settings) }
  }
}

struct Window: Codable, Storable {
  var width = 80
  var height = 24
}

extension SettingKeys {
  var window: Key<Window> { Key("window", default: Window()) }
  var recent: Key<[String]> { Key("recent", default: []) }
}

struct WindowView {
  @Default(\.window) var window

  func maximise() { window.width = 132 }

  func follow() -> PreferenceObservation? {
    $window.onChange { old, new in print("width: \(old.width), now \(new.width)") }
  }
}

func remember(_ piece: String, in defaults: UserDefaults) {
  defaults[\.recent].append(piece)
}

final class Account: ObservableObject {
  @AppStorage("name") var name = "Ada"
  @Published var isBusy = false
}

func moveToVersion2(_ defaults: UserDefaults) throws {
  try defaults.migrate([
    .rename("colour", to: "theme"),
    .convert("size", from: Int.self, to: \.window) { Window(width: $0) },
  ])
}

func withSettingsOfItsOwn(_ body: () throws -> Void) rethrows {
  guard let store = UserDefaults(suiteName: "com.example.\(UUID())") else { return }
  defer { store.removePersistentDomain(forName: store.domains().first { $0.kind == .application }?.name ?? "") }
  try UserDefaults.withDefaultAppStorage(store) { try body() }
}

@Suite struct AppStorageExampleTests {
  @Test @MainActor func examplesWork() throws {
    try withSettingsOfItsOwn {
      let settings = PlayerSettings()
      draw(settings)
      settings.volume = 0.5
      settings.theme = .light
      let defaults = UserDefaults.defaultAppStorage
      #expect(defaults.double(forKey: "volume") == 0.5)
      #expect(defaults.string(forKey: "theme") == "light")
      let view = WindowView()
      let observation = view.follow()
      view.maximise()
      #expect(defaults[\.window].width == 132)
      remember("Goldberg Variations", in: defaults)
      #expect(defaults.stringArray(forKey: "recent") == ["Goldberg Variations"])
      observation?.cancel()
      defaults.removeObject(forKey: "window")
      defaults.set(100, forKey: "size")
      try moveToVersion2(defaults)
      #expect(view.window.width == 100)
      var names: [String] = []
      let account = Account()
      let subscription = account.objectWillChange.sink { names.append(account.name) }
      account.name = "Grace"
      account.isBusy = true
      #expect(names == ["Ada", "Grace"])
      subscription.cancel()
    }
  }
}
#endif
