import Foundation
import LuckyNumberStore
import Widgets

// The app: draws a number from 1 to 99, or takes the one that it is given, and has the widget show it.

@main
struct LuckyNumber {
  static func main() throws {
    let number = CommandLine.arguments.dropFirst().first.map { Int($0) } ?? Int.random(in: 1...99)
    guard let number else {
      FileHandle.standardError.write(Data("LuckyNumber: the argument must be a number\n".utf8))
      exit(2)
    }
    try LuckyNumberStore.save(number)
    WidgetCenter.shared.reloadTimelines(ofKind: "LuckyNumber")
    print(number)
  }
}
