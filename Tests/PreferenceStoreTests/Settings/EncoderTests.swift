import CofferPropertyLists
import Foundation
import PreferenceStore
import Testing

/// The stored form of `Codable` values, compared to the output of Foundation's encoder.
@Suite struct EncoderTests {
  private enum Choice: Codable, Storable {
    case none
    case one(Int)
    case named(name: String, date: Date?)
  }

  private class Base: Codable {
    var base = 1
  }

  private final class Derived: Base {
    var own = [2.5, -0.0]
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(own, forKey: .own)
      try super.encode(to: container.superEncoder())
      try super.encode(to: container.superEncoder(forKey: .base))
      var list = container.nestedUnkeyedContainer(forKey: .list)
      try list.encodeNil()
      try list.encode(Float(0.1))
      try super.encode(to: list.superEncoder())
      var inner = list.nestedContainer(keyedBy: Keys.self)
      try inner.encodeNil(forKey: .own)
      var deeper = list.nestedUnkeyedContainer()
      try deeper.encode(UInt8(7))
      // The same container again.
      var again = encoder.container(keyedBy: Keys.self)
      try again.encode(true, forKey: .flag)
    }
    enum Keys: String, CodingKey {
      case own, base, list, flag
    }
  }

  private struct All: Codable {
    var bool = true
    var int = Int.min
    var int8 = Int8(-8)
    var int16 = Int16(-16)
    var int32 = Int32(-32)
    var int64 = Int64(-64)
    var uint = UInt.max
    var uint8 = UInt8.max
    var uint16 = UInt16.max
    var uint32 = UInt32.max
    var uint64 = UInt64.max
    var float = Float(0.1)
    var double = 0.1
    var text = "é\0\u{1F600}"
    var missing: Int?
    var date = Date(timeIntervalSinceReferenceDate: 0.75)
    var data = Data([1, 2])
    var url = URL(string: "https://h.example/a?q")
    var dates = [Date(timeIntervalSinceReferenceDate: 1)]
    var optionals: [Int?] = [1, nil]
    var byName = ["a": Data([3])]
    var byNumber = [1: "a"]
    var choices = [Choice.none, .one(1), .named(name: "n", date: nil)]
    var empty = Empty()
    var decimal = Decimal(string: "1.25")
    var set: Set<Int> = [5]
    var range = 1..<3
  }

  private struct Empty: Codable {}

  /// Wraps the value in an array, so that any value can be stored.
  private struct Stored<Value: Codable>: Codable, Storable, @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      try container.encode(value)
    }
    init(from decoder: any Decoder) throws {
      var container = try decoder.unkeyedContainer()
      value = try container.decode(Value.self)
    }
  }

  private func check(_ value: some Codable, isRead: Bool = true, _ location: SourceLocation = #_sourceLocation) throws {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    let expected = try PropertyList.read(Array(encoder.encode([value]))).value
    let stored = try Stored(value).storedValue()
    #expect(stored == expected, sourceLocation: location)
    // Decoding reverses encoding.
    func decode<Value: Codable>(_ value: Value) throws -> PropertyListValue? {
      try Stored<Value>(storedValue: stored)?.storedValue()
    }
    if isRead { #expect(try decode(value) == expected, sourceLocation: location) }
  }

  @Test("a Codable value is stored as Foundation's encoder has it")
  func asFoundation() throws {
    try check(All())
    try check(Derived(), isRead: false)
    try check(Choice.none)
    try check(Choice.one(-1))
    try check(Empty())
    try check([[Empty()], []])
    try check([String: [Int: Date]]())
    try check(["a": ["b": [Optional<Bool>.none, true]]])
    try check(1.5)
    try check("text")
    try check(Optional<Int>.none)
    try check(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
  }
}
