import Foundation
import PreferenceStore

import class PreferenceStore.UserDefaults

// Shows settings and changes them, in a terminal. Run it in two of them: what one changes, the other shows at once, as it does when
// `coffer defaults write com.example.live-settings theme light` changes it.

enum Theme: String, Storable, CaseIterable {
  case dark, light
}

extension SettingKeys {
  /// In percent.
  var volume: Key<Int> { Key("volume", default: 80) }
  var theme: Key<Theme> { Key("theme", default: .dark) }
  var nickname: Key<String?> { Key("nickname") }
}

@MainActor
final class SettingsView {
  @Default(\.volume) private var volume
  @Default(\.theme) private var theme
  @Default(\.nickname) private var nickname
  private let terminal: Terminal
  private var observations: [Any?] = []

  init(_ terminal: Terminal) {
    self.terminal = terminal
    observations = [
      $volume.onChange { [weak self] _, _ in self?.draw() },
      $theme.onChange { [weak self] _, _ in self?.draw() },
      $nickname.onChange { [weak self] _, _ in self?.draw() },
    ]
  }

  func draw() {
    let level = min(max(volume, 0), 100)
    let bar = String(repeating: "#", count: level / 5) + String(repeating: ".", count: 20 - level / 5)
    terminal.show(
      [
        "Settings of \(nickname ?? "nobody")",
        "",
        "  volume  [\(bar)] \(volume) %",
        "  theme   \(theme.rawValue)",
        "",
        "+ and - change the volume, t the theme, q ends",
      ], isInverse: theme == .light)
  }

  /// - Returns: Whether to go on.
  func press(_ key: Character) -> Bool {
    switch key {
    case "+": volume = min(volume + 5, 100)
    case "-": volume = max(volume - 5, 0)
    case "t": theme = theme == .dark ? .light : .dark
    case "q": return false
    default: break
    }
    return true
  }
}

@main
struct LiveSettings {
  static func main() async {
    guard let terminal = Terminal(), let store = UserDefaults(suiteName: "com.example.live-settings") else {
      FileHandle.standardError.write(Data("LiveSettings: needs a terminal\n".utf8))
      exit(2)
    }
    UserDefaults.defaultAppStorage = store
    let view = SettingsView(terminal)
    view.draw()
    for await key in terminal.keys where !view.press(key) { break }
    terminal.restore()
  }
}
