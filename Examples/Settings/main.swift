import Foundation

import class PreferenceStore.UserDefaults

let defaults = UserDefaults.standard
defaults.register(defaults: ["volume": 0.8])
defaults.set(["a", "b"], forKey: "recent")
defaults.set(URL(fileURLWithPath: "/tmp"), forKey: "place")
defaults.set(Date(), forKey: "date")
let changes = NotificationCenter.default.addObserver(
  forName: UserDefaults.didChangeNotification, object: defaults, queue: nil
) { _ in }
print(defaults.double(forKey: "volume"), defaults.stringArray(forKey: "recent") ?? [], defaults.url(forKey: "place") as Any)
print(defaults.object(forKey: "date") as? Date as Any, defaults.dictionaryRepresentation().isEmpty)
if let suite = UserDefaults(suiteName: "com.example.shared") {
  suite.removeObject(forKey: "x")
  suite.setPersistentDomain(["a": 1], forName: "com.example.other")
  print(suite.synchronize(), suite.persistentDomain(forName: "com.example.other") ?? [:])
}
NotificationCenter.default.removeObserver(changes)
