import CofferWidgets
import LuckyNumberStore

// The app: draws a number from 1 to 99, or takes the one that it is given, and has the widget show it.

@main
struct LuckyNumber {
  static func main() {
    let number = CommandLine.arguments.dropFirst().first.map { Int($0) } ?? Int.random(in: 1...99)
    guard let number else { LuckyNumberStore.fail("the argument must be a number") }
    LuckyNumberStore.save(number)
    WidgetCenter.shared.reloadTimelines(ofKind: "LuckyNumber")
    print(number)
  }
}
