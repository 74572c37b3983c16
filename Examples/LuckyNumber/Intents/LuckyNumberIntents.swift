import Foundation
import LuckyNumberStore
import Widgets

// The intent handler: what an assistant or a shortcut of the desktop starts. It adds one, without the app.

@main
struct LuckyNumberIntents {
  static func main() throws {
    try LuckyNumberStore.save(LuckyNumberStore.numberFromUserDefaults + 1)
    WidgetCenter.shared.reloadTimelines(ofKind: "LuckyNumber")
    print(LuckyNumberStore.numberFromUserDefaults)
  }
}
