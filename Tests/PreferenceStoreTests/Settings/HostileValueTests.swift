import CofferPropertyLists
import Foundation
import PreferenceStore
import Testing

import class PreferenceStore.UserDefaults

/// Unexpected stored values, written by people or other programs or damaged, and values that a program should not store.
@Suite struct HostileValueTests {
  private struct Everything: Codable, Storable {
    var number = 80
    var real: Double?
    var byte: UInt8?
    var date: Date?
    var map: [String: Int]?
    var data: Data?
    var url: URL?
  }

  private final class Chain: Codable, Storable {
    let next: Chain?
    init(_ next: Chain?) { self.next = next }
  }

  private static let values: [PropertyListValue] = {
    var forms = PropertyListDictionary()
    forms["\u{FC}"] = .integer(1)
    forms["u\u{308}"] = .integer(2)
    var deep = PropertyListValue.integer(1)
    for _ in 0..<60 { deep = .array([deep]) }
    return [
      .integer(.min), .integer(300), .unsigned(.max), .real(.nan), .real(.infinity), .real(1e300), .real(-1e300), .real(2.5),
      .real(-0.0), .boolean(true), .string(""), .string("$null"), .string("\0"), .string(String(repeating: "x", count: 100_000)),
      .date(.nan), .date(.infinity), .date(1e300), .date(-1e300), .data([]), .data(Array("bplist00".utf8)), .data([0xFF]),
      .array([]), .array([.dictionary(forms)]), .dictionary(forms), .dictionary(PropertyListDictionary()), .uid(7), .uid(.max),
      deep,
    ]
  }()

  /// Whether the type reads the value. If so, storing it again must give a value that it reads as well.
  private static func read<Value: Storable>(_ type: Value.Type, _ stored: PropertyListValue) throws -> Bool {
    _ = Value(argumentValue: stored)
    guard let value = Value(storedValue: stored) else { return false }
    let again = try value.storedValue()
    #expect(try Value(storedValue: again)?.storedValue() == again, "\(type): \(stored)")
    return true
  }

  @Test("no stored value ends a program, whichever type it is read as", arguments: values.indices)
  func everyType(_ place: Int) throws {
    let stored = Self.values[place]
    let read = [
      try Self.read(Bool.self, stored), try Self.read(Int.self, stored), try Self.read(Double.self, stored),
      try Self.read(Float.self, stored), try Self.read(String.self, stored), try Self.read(Data.self, stored),
      try Self.read(Date.self, stored), try Self.read(URL.self, stored), try Self.read([Int].self, stored),
      try Self.read(Set<Int>.self, stored), try Self.read([String: Int].self, stored),
    ]
    if case .uid = stored { #expect(!read.contains(true)) }
    for field in ["number", "real", "byte", "date", "map", "data", "url"] {
      var fields = PropertyListDictionary()
      fields["number"] = .integer(1)
      fields[field] = stored
      _ = try Self.read(Everything.self, .dictionary(fields))
      _ = try Self.read([Everything].self, .array([.dictionary(fields)]))
    }
  }

  @Test("a NaN is a value, equal to itself: it is stored, and no change the second time")
  func notANumber() throws {
    let store = try StoreFixture().standard
    let number = AppStorage(wrappedValue: 1.0, "number", store: store)
    let screen = Screen { _ = number.wrappedValue }
    #expect(screen.invalidations { number.wrappedValue = .nan } == 1)
    #expect(screen.invalidations { number.wrappedValue = .nan } == 0)
    #expect(number.wrappedValue.isNaN)
    let date = AppStorage<Date?>("date", store: store)
    date.wrappedValue = Date(timeIntervalSinceReferenceDate: .nan)
    #expect(date.wrappedValue?.timeIntervalSinceReferenceDate.isNaN == true)
    let numbers = AppStorage(wrappedValue: Set<Double>(), "numbers", store: store)
    numbers.wrappedValue = [.nan, .nan, 1, -0.0, .infinity]
    #expect(numbers.wrappedValue.count == 5)
    #expect(store.synchronize())
  }

  @Test("too large and too deep values are refused without a change, and the next value is delivered as usual")
  func refused() throws {
    let store = try StoreFixture().standard
    let text = AppStorage(wrappedValue: "", "text", store: store)
    text.wrappedValue = "a"
    let screen = Screen { _ = text.wrappedValue }
    text.wrappedValue = String(repeating: "x", count: 2_000_000)
    #expect(text.wrappedValue == "a")
    screen.draw()
    #expect(screen.invalidations { store.set("b", forKey: "text") } == 1)
    #expect(text.wrappedValue == "b")
    let chain = AppStorage(wrappedValue: Chain(nil), "chain", store: store)
    chain.wrappedValue = (0..<600).reduce(Chain(nil)) { chain, _ in Chain(chain) }
    #expect(chain.wrappedValue.next == nil)
    #expect(store.object(forKey: "chain") == nil)
  }
}
