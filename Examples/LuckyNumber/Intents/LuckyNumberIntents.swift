import CofferWidgets
import LuckyNumberStore

// The intent handler: what an assistant or a shortcut of the desktop starts. It adds one, without the app.

@main
struct LuckyNumberIntents {
  static func main() {
    let number = LuckyNumberStore.numberFromUserDefaults + 1
    LuckyNumberStore.save(number)
    WidgetCenter.shared.reloadTimelines(ofKind: "LuckyNumber")
    print(number)
  }
}
