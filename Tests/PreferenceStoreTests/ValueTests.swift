import CofferPreferences
import CofferPropertyLists
import Foundation
import PreferenceStore
import Testing

import class PreferenceStore.UserDefaults

@Suite struct ValueTests {
  let fixture: StoreFixture
  let defaults: UserDefaults

  init() throws {
    fixture = try StoreFixture()
    defaults = try fixture.standard
  }

  @Test("without a value: nil, 0, false")
  func missing() {
    #expect(defaults.object(forKey: "k") == nil)
    #expect(defaults.string(forKey: "k") == nil)
    #expect(defaults.array(forKey: "k") == nil)
    #expect(defaults.dictionary(forKey: "k") == nil)
    #expect(defaults.data(forKey: "k") == nil)
    #expect(defaults.stringArray(forKey: "k") == nil)
    #expect(defaults.url(forKey: "k") == nil)
    #expect(defaults.integer(forKey: "k") == 0)
    #expect(defaults.float(forKey: "k") == 0)
    #expect(defaults.double(forKey: "k") == 0)
    #expect(defaults.bool(forKey: "k") == false)
  }

  @Test("accessors of each type")
  func accessors() {
    defaults.set(Float(0.25), forKey: "float")
    defaults.set(0.1, forKey: "double")
    defaults.set(-42, forKey: "integer")
    defaults.set(true, forKey: "bool")
    defaults.set("text", forKey: "string")
    defaults.set(Data([1, 2]), forKey: "data")
    defaults.set(["a", "b"], forKey: "strings")
    defaults.set(["a", 1] as [Any], forKey: "array")
    defaults.set(["a": 1], forKey: "dictionary")
    #expect(defaults.float(forKey: "float") == 0.25)
    #expect(defaults.double(forKey: "double") == 0.1)
    #expect(defaults.integer(forKey: "integer") == -42)
    #expect(defaults.bool(forKey: "bool"))
    #expect(defaults.string(forKey: "string") == "text")
    #expect(defaults.data(forKey: "data") == Data([1, 2]))
    #expect(defaults.stringArray(forKey: "strings") == ["a", "b"])
    #expect(defaults.stringArray(forKey: "array") == nil)
    #expect(defaults.array(forKey: "array")?.count == 2)
    #expect(defaults.dictionary(forKey: "dictionary") as? [String: Int] == ["a": 1])
    #expect(defaults.data(forKey: "string") == nil)
    #expect(defaults.array(forKey: "dictionary") == nil)
    #expect(defaults.dictionary(forKey: "array") == nil)
    defaults.setValue(7, forKey: "kvc")
    #expect(defaults.value(forKey: "kvc") as? Int == 7)
  }

  /// The type of the object; for a number, the type of its value.
  static func exactType(_ value: Any?) -> String {
    guard let value else { return "nil" }
    guard type(of: value) is NSNumber.Type, let number = value as? NSNumber else { return "\(type(of: value))" }
    if number === NSNumber(value: true) || number === NSNumber(value: false) { return "Bool" }
    switch unsafe String(cString: number.objCType) {
    case "d": return "Double"
    case "Q": return "UInt64"
    default: return "Int"
    }
  }

  private static func casts(_ value: Any) -> [String] {
    [
      "\(value is Bool)", "\(String(describing: value as? Int))", "\(String(describing: value as? Int8))",
      "\(String(describing: value as? Int16))", "\(String(describing: value as? Int32))",
      "\(String(describing: value as? Int64))", "\(String(describing: value as? UInt))",
      "\(String(describing: value as? UInt8))", "\(String(describing: value as? UInt16))",
      "\(String(describing: value as? UInt32))", "\(String(describing: value as? UInt64))",
      "\(String(describing: value as? Float))", "\(String(describing: value as? Double))",
      "\(String(describing: value as? NSNumber))", "\(String(describing: value as? CGFloat))",
    ]
  }

  @Test("a stored number can be cast as the NSNumber that Apple's systems give")
  func numbersAreCast() {
    let numbers: [(Any, NSNumber)] = [
      (5, 5), (true, true), (false, false), (0, 0), (1, 1), (-1, -1), (2.5, 2.5), (0.1, 0.1), (3.0, 3.0), (300, 300),
      (Int.max, NSNumber(value: Int.max)), (Int.min, NSNumber(value: Int.min)), (UInt64.max, NSNumber(value: UInt64.max)),
      (1e300, 1e300), (Double.infinity, NSNumber(value: Double.infinity)), (UInt8(200), 200), (Float(0.5), 0.5),
    ]
    for (value, number) in numbers {
      defaults.set(value, forKey: "k")
      #expect(Self.casts(defaults.object(forKey: "k") ?? "nil") == Self.casts(number), "\(value)")
      defaults.set([value], forKey: "k")
      #expect(Self.casts(defaults.array(forKey: "k")?.first ?? "nil") == Self.casts(number), "[\(value)]")
    }
    defaults.set(5, forKey: "k")
    #expect(defaults.object(forKey: "k") as? Float == 5)
    #expect(defaults.object(forKey: "k") as? Int64 == 5)
    #expect(defaults.object(forKey: "k") as? UInt8 == 5)
    #expect(defaults.object(forKey: "k") as? Bool == nil)
    // `Different`: Foundation on Linux has no such cast.
    #expect(defaults.object(forKey: "k") as? CGFloat == nil)
    defaults.set([1, 2], forKey: "k")
    #expect(defaults.object(forKey: "k") as? [Int] == [1, 2])
    #expect(defaults.object(forKey: "k") as? [Double] == [1, 2])
  }

  @Test("types are kept: Bool, Int and Double stay apart")
  func types() {
    let values: [(Any, String)] = [
      (true, "Bool"), (1, "Int"), (1.0, "Double"), (UInt64.max, "UInt64"), (UInt8(200), "Int"), (Int8(1), "Int"),
      (Float(1), "Double"),
      (NSNumber(value: true), "Bool"), (NSNumber(value: 1), "Int"), (NSNumber(value: 1.0), "Double"), ("x", "String"),
      (NSString("x"), "String"), (Date(timeIntervalSinceReferenceDate: 0.75), "Date"), (Data([1]), "Data"), (NSData(), "Data"),
      (Decimal(1.5), "Double"), (Optional(5) as Any, "Int"), (Optional(true) as Any, "Bool"),
    ]
    for (value, type) in values {
      defaults.set(value, forKey: "k")
      #expect(Self.exactType(defaults.object(forKey: "k")) == type, "\(value)")
    }
    defaults.set(UInt64.max, forKey: "k")
    #expect(defaults.object(forKey: "k") as? UInt64 == .max)
  }

  @Test("CGFloat is a number, by itself and in a container")
  func coreGraphicsNumbers() throws {
    let store = try StoreFixture().standard
    store.set(CGFloat(1.5), forKey: "width")
    store.set([CGFloat(2.5)], forKey: "sizes")
    #expect(store.double(forKey: "width") == 1.5)
    #expect(store.array(forKey: "sizes") as? [Double] == [2.5])
  }

  @Test("nested values come back through the files as they were")
  func nestedThroughFiles() throws {
    let date = Date(timeIntervalSince1970: 1_700_000_000.75)
    let value: [String: Any] = [
      "a": [1, true, 1.5, "x", Data([0, 255]), date, [UInt64.max, [String: Any]()] as [Any]] as [Any], "nul": "a\u{0}b\u{1}",
      "nan": Double.nan,
      "caf\u{E9}": "caf\u{E9}",
    ]
    defaults.set(value, forKey: "nested")
    #expect(defaults.synchronize())
    // As read by another process.
    let other = FileDomain(try DomainName(StoreFixture.name), in: PreferenceDirectory(fixture.lists.places.user))
    let stored = try #require(other.value(forKey: "nested"))
    #expect(stored == defaults.explain("nested").compactMap(\.value).first)
    let read = try #require(defaults.dictionary(forKey: "nested"))
    let array = try #require(read["a"] as? [Any])
    #expect(array.map { Self.exactType($0) } == ["Int", "Bool", "Double", "String", "Data", "Date", "Array<Any>"])
    #expect(array[5] as? Date == date)
    #expect((array[6] as? [Any])?.first as? UInt64 == .max)
    #expect(read["nul"] as? String == "a\u{0}b\u{1}")
    #expect((read["nan"] as? Double)?.isNaN == true)
  }

  @Test("a stored value does not change with its source object")
  func snapshots() {
    let text = NSMutableString(string: "before")
    let array = NSMutableArray(array: [text, 1])
    let dictionary = NSMutableDictionary(dictionary: ["k": array])
    let data = NSMutableData(data: Data([1]))
    defaults.set(text, forKey: "text")
    defaults.set(array, forKey: "array")
    defaults.set(dictionary, forKey: "dictionary")
    defaults.set(data, forKey: "data")
    text.append(" and after")
    array.add(2)
    dictionary["new"] = 1
    data.append(Data([2]))
    #expect(defaults.string(forKey: "text") == "before")
    #expect(defaults.array(forKey: "array")?.count == 2)
    #expect(defaults.array(forKey: "array")?.first as? String == "before")
    #expect(defaults.dictionary(forKey: "dictionary")?.count == 1)
    #expect(defaults.data(forKey: "data") == Data([1]))
    defaults.set(text, forKey: "text")
    defaults.set(array, forKey: "array")
    #expect(defaults.string(forKey: "text") == "before and after")
    #expect(defaults.array(forKey: "array")?.count == 3)
  }

  @Test("a file URL is its path, for ever; others are archived")
  func urls() throws {
    defaults.set(URL(fileURLWithPath: "/hello/world"), forKey: "file")
    #expect(defaults.string(forKey: "file") == "/hello/world")
    #expect(defaults.url(forKey: "file") == URL(fileURLWithPath: "/hello/world"))
    let home = NSHomeDirectory()
    defaults.set(URL(fileURLWithPath: home + "/a b"), forKey: "home")
    #expect(defaults.string(forKey: "home") == "~/a b")
    #expect(defaults.url(forKey: "home")?.path == home + "/a b")
    let web = try #require(URL(string: "https://h.example/a?q=1#f"))
    defaults.set(web, forKey: "web")
    #expect(defaults.url(forKey: "web") == web)
    #expect(defaults.data(forKey: "web") != nil)
    defaults.set(web as Any, forKey: "any")
    #expect(defaults.url(forKey: "any") == web)
    defaults.set(NSURL(fileURLWithPath: "/n"), forKey: "ns")
    #expect(defaults.url(forKey: "ns") == URL(fileURLWithPath: "/n"))
    defaults.set(5, forKey: "number")
    #expect(defaults.url(forKey: "number") == nil)
    defaults.set(Data([1, 2, 3]), forKey: "data")
    #expect(defaults.url(forKey: "data") == nil)
    defaults.set(nil as URL?, forKey: "web")
    #expect(defaults.object(forKey: "web") == nil)
  }

  @Test("keys as an enumeration")
  func keyEnumeration() {
    typealias Key = Keys
    enum Keys: String { case number }
    defaults.set(5, forKey: Key.number.rawValue)
    #expect(defaults.integer(forKey: Keys.number.rawValue) == 5)
  }
}
