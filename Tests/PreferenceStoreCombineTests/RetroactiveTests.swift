#if Combine
public import Foundation
import PreferenceStoreCombine
import Testing

import class PreferenceStore.UserDefaults

// Current Swift code marks conformances of other modules' types as retroactive.

// swift-format-ignore: AvoidRetroactiveConformances
extension Date: @retroactive RawRepresentable {
  public init?(rawValue: String) {
    guard let seconds = Double(rawValue) else { return nil }
    self.init(timeIntervalSinceReferenceDate: seconds)
  }
  public var rawValue: String { "\(timeIntervalSinceReferenceDate)" }
}

// swift-format-ignore: AvoidRetroactiveConformances
extension Set: @retroactive RawRepresentable where Element == Int {
  public init?(rawValue: Int) { self = [rawValue] }
  public var rawValue: Int { reduce(0, +) }
}

@Suite struct RetroactiveTests {
  @Test("a program's own conformances take precedence over the built-in ones")
  func ownConformances() throws {
    struct View {
      @AppStorage("date") var date = Date(timeIntervalSinceReferenceDate: 0)
      @AppStorage("perhaps") var perhaps: Date?
      @AppStorage("numbers") var numbers: Set = [1]
      @AppStorage("names") var names: Set = ["a"]
    }
    let settings = try Settings()
    let store = try settings.store
    UserDefaults.withDefaultAppStorage(store) {
      let view = View()
      view.date = Date(timeIntervalSinceReferenceDate: 1.5)
      view.perhaps = Date(timeIntervalSinceReferenceDate: 2.5)
      view.numbers = [2, 3]
      view.names = ["b"]
      #expect(store.object(forKey: "date") as? String == "1.5")
      #expect(store.object(forKey: "perhaps") as? String == "2.5")
      #expect(store.object(forKey: "numbers") as? Int == 5)
      #expect(store.object(forKey: "names") as? [String] == ["b"])
      #expect(view.date == Date(timeIntervalSinceReferenceDate: 1.5))
    }
  }
}
#endif
