import CofferPreferences
import Foundation
import PreferenceStore
import Testing

import class PreferenceStore.UserDefaults

final class BuyObject: NSObject, NSSecureCoding {
  static let supportsSecureCoding = true
  let name: String
  let price: Double

  init(_ name: String, _ price: Double) {
    self.name = name
    self.price = price
  }

  init?(coder: NSCoder) {
    guard let name = coder.decodeObject(of: NSString.self, forKey: "name") else { return nil }
    self.name = String(describing: name)
    price = coder.decodeDouble(forKey: "price")
  }

  func encode(with coder: NSCoder) {
    coder.encode(NSString(string: name), forKey: "name")
    coder.encode(price, forKey: "price")
  }
}

@Suite struct ArchiveTests {
  @Test("an object goes through an archive")
  func archive() throws {
    let fixture = try StoreFixture()
    let defaults = try fixture.standard
    let archived = try NSKeyedArchiver.archivedData(withRootObject: BuyObject("hoge", 1), requiringSecureCoding: true)
    defaults.set(archived, forKey: "buy")
    let data = try #require(defaults.data(forKey: "buy"))
    let object = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: BuyObject.self, from: data))
    #expect(object.name == "hoge")
    #expect(object.price == 1)
    #expect(try defaults.unarchivedObject(ofClass: BuyObject.self, forKey: "buy")?.price == 1)
  }

  @Test("an object of another class is an error, not the end of the program")
  func wrongClass() throws {
    let fixture = try StoreFixture()
    let defaults = try fixture.standard
    defaults.set(
      try NSKeyedArchiver.archivedData(withRootObject: BuyObject("hoge", 1), requiringSecureCoding: true), forKey: "buy")
    defaults.set(Data("no archive".utf8), forKey: "data")
    #expect(throws: CocoaError.self) { try defaults.unarchivedObject(ofClass: NSArray.self, forKey: "buy") == nil }
    #expect(throws: CocoaError.self) { try defaults.unarchivedObject(ofClass: BuyObject.self, forKey: "data") == nil }
    #expect(try defaults.unarchivedObject(ofClass: BuyObject.self, forKey: "missing") == nil)
    // Reading a URL from the archive of another object.
    #expect(defaults.url(forKey: "buy") == nil)
    #expect(defaults.url(forKey: "data") == nil)
  }

  @Test("URLs of all kinds come back from their archive")
  func urls() throws {
    let fixture = try StoreFixture()
    let defaults = try fixture.standard
    let base = try #require(URL(string: "https://h.example/dir/"))
    for url in [
      URL(string: "https://h.example/a%20b?q=1#f"), URL(string: "mailto:a@example.org"), URL(string: "relative/path"),
      URL(string: "below", relativeTo: base), URL(string: "https://例え.example/ü"),
    ] {
      let url = try #require(url)
      defaults.set(url, forKey: "k")
      let read = try #require(defaults.url(forKey: "k"))
      #expect(read.absoluteString == url.absoluteString)
    }
  }
}
