import Foundation

import class PreferenceStore.UserDefaults

@main struct Player {
  static func main() {
    let defaults = UserDefaults.standard
    defaults.register(defaults: ["volume": 0.8])
    defaults.set(defaults.double(forKey: "volume") / 2, forKey: "volume")
    print(defaults.double(forKey: "volume"))
  }
}
