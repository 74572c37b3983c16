import CofferPropertyLists
import Testing

@testable import CofferPreferences

@Suite struct ChangeCollectorTests {
  /// Few and many changes are stored differently.
  @Test(arguments: [1, 7, 8, 9, 40]) func eachKeyIsToldOnceInTheOrderOfItsFirstChange(count: Int) {
    var collector = ChangeCollector(isWanted: true)
    let keys = (0..<count).map { PropertyListDictionary.Key("key.\((count - $0) * 7919 % 100)-\($0)") }
    for key in keys { collector.note(key, old: nil, new: .integer(1)) }
    for key in keys.reversed() { collector.note(key, old: .integer(1), new: .integer(2)) }
    // A key whose value ends up equal is not a change.
    collector.note(keys[0], old: .integer(2), new: nil)
    let changes = collector.take()
    #expect(changes.map(\.name) == keys.dropFirst().map(\.name))
    #expect(changes.allSatisfy { $0.old == nil && $0.new == .integer(2) })
    #expect(collector.isEmpty)
    #expect(collector.take().isEmpty)
    collector.note(keys[0], old: nil, new: .boolean(true))
    #expect(collector.take().map(\.name) == [keys[0].name])
  }
}
