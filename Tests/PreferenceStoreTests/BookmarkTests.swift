import CofferPropertyLists
import Foundation
import PreferenceStore
import Testing

@Suite struct BookmarkTests {
  /// A directory with the file `folder/file`, removed after the test.
  private final class Place {
    let root = FileManager.default.temporaryDirectory.standardizedFileURL.appending(path: "coffer-bookmark-\(UUID())")
    var file: URL { root.appending(path: "folder/file") }

    init() throws {
      try FileManager.default.createDirectory(at: root.appending(path: "folder"), withIntermediateDirectories: true)
      try write("mine", file)
    }

    deinit { try? FileManager.default.removeItem(at: root) }

    func write(_ text: String, _ url: URL, atomically: Bool = false) throws {
      try text.write(to: url, atomically: atomically, encoding: .utf8)
    }

    func move(_ url: URL, to path: String) throws -> URL {
      let target = root.appending(path: path)
      try FileManager.default.createDirectory(at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
      try FileManager.default.moveItem(at: url, to: target)
      return target
    }
  }

  private func resolve(_ data: Data, relativeTo base: URL? = nil) throws -> (path: String, isStale: Bool) {
    var isStale = false
    let url = try URL(resolvingBookmarkData: data, options: [.withoutUI], relativeTo: base, bookmarkDataIsStale: &isStale)
    return (url.path, isStale)
  }

  private func code(_ body: () throws -> Void) -> CocoaError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? CocoaError)?.code
    }
  }

  @Test(
    "a bookmark that was kept as a setting leads to the file that was moved",
    arguments: ["folder/other", "file", "folder/below/it/file", "elsewhere/deep/down/renamed"])
  func moved(path: String) throws {
    let place = try Place()
    let fixture = try StoreFixture()
    let data = try place.file.bookmarkData(options: [], includingResourceValuesForKeys: nil, relativeTo: nil)
    try fixture.standard.set(data, forKey: "document")
    let kept = try #require(try fixture.standard.data(forKey: "document"))
    var isStale = true
    let before = try URL(resolvingBookmarkData: kept, options: [], relativeTo: nil, bookmarkDataIsStale: &isStale)
    #expect(before.path == place.file.path && !isStale)

    let target = try place.move(place.file, to: path)
    let after = try URL(resolvingBookmarkData: kept, options: [], relativeTo: nil, bookmarkDataIsStale: &isStale)
    #expect(after.path == target.path && isStale)
    #expect(try String(contentsOf: after, encoding: .utf8) == "mine")
    // A new bookmark is not stale.
    let again = try resolve(after.bookmarkData())
    #expect(again == (target.path, false))
  }

  @Test("also if the directory was moved, and for a directory") func directory() throws {
    let place = try Place()
    let folder = place.root.appending(path: "folder")
    let (ofFile, ofFolder) = try (place.file.bookmarkData(), folder.bookmarkData())
    let target = try place.move(folder, to: "a/b/moved")
    #expect(try resolve(ofFile) == (target.path + "/file", true))
    #expect(try resolve(ofFolder) == (target.path, true))
  }

  @Test("a file that was saved anew under its name is the one that is meant") func replaced() throws {
    let place = try Place()
    let data = try place.file.bookmarkData()
    try place.write("changed in place", place.file)
    #expect(try resolve(data) == (place.file.path, false))
    try place.write("saved", place.file, atomically: true)
    #expect(try resolve(data) == (place.file.path, true))
    // Also if the original file still exists elsewhere.
    let fresh = try place.file.bookmarkData()
    _ = try place.move(place.file, to: "folder/backup")
    try place.write("new", place.file)
    #expect(try resolve(fresh) == (place.file.path, true))
  }

  @Test("a copy, and another file with the same number, are not the file") func gone() throws {
    let place = try Place()
    let data = try place.file.bookmarkData()
    try FileManager.default.copyItem(at: place.file, to: place.root.appending(path: "folder/copy"))
    try FileManager.default.removeItem(at: place.file)
    // The file system reuses the inode numbers of deleted files.
    for index in 0..<50 { try place.write("x", place.root.appending(path: "folder/new\(index)")) }
    #expect(code { _ = try Bookmark(data).resolve(relativeTo: nil, limit: 300) } == .fileNoSuchFile)
  }

  @Test("relative to a directory that moves along, or that was copied") func relative() throws {
    let place = try Place()
    let base = place.root.appending(path: "folder")
    let data = try place.file.bookmarkData(relativeTo: base)
    #expect(try resolve(data, relativeTo: base) == (place.file.path, false))
    let copy = place.root.appending(path: "copy")
    try FileManager.default.copyItem(at: base, to: copy)
    #expect(try resolve(data, relativeTo: copy) == (copy.path + "/file", true))
    // Without the directory, the bookmark resolves to its path.
    #expect(try resolve(data) == (place.file.path, false))
  }

  @Test("through a link to the directory, and without following links on the way") func links() throws {
    let place = try Place()
    let link = place.root.appending(path: "link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: place.root.appending(path: "folder"))
    let data = try link.appending(path: "file").bookmarkData()
    try FileManager.default.createSymbolicLink(
      at: place.root.appending(path: "folder/loop"), withDestinationURL: place.root)
    let target = try place.move(place.file, to: "folder/other")
    let found = try resolve(data)
    #expect(found.isStale && [target.path, link.path + "/other"].contains(found.path))
  }

  @Test("if the search ends at its limit, the error is reported") func limit() throws {
    let place = try Place()
    let bookmark = try Bookmark(place.file.bookmarkData())
    let target = try place.move(place.file, to: "folder/a/b/c/d")
    #expect(try bookmark.resolve(relativeTo: nil, limit: 4).path == target.path)
    let error = #expect(throws: CocoaError.self) { try bookmark.resolve(relativeTo: nil, limit: 3) }
    let reason = unsafe error?.userInfo[NSDebugDescriptionErrorKey] as? String
    #expect(error?.code == .fileNoSuchFile && reason?.contains("first 3 names") == true)
  }

  @Test func markingAnUnsupportedFileIsAnError() throws {
    let place = try Place()
    #expect(code { _ = try place.root.appending(path: "none").bookmarkData() } == .fileNoSuchFile)
    let page = try #require(URL(string: "https://example.org/"))
    #expect(code { _ = try page.bookmarkData() } == .fileReadUnsupportedScheme)
  }

  // MARK: Hostile data

  private func bookmark(_ change: (inout PropertyListDictionary) -> Void) throws -> Data {
    let place = try Place()
    let data = try place.file.bookmarkData(relativeTo: place.root)
    guard case .dictionary(var members) = try PropertyList.read(Array(data)).value else { return Data() }
    change(&members)
    return Data(try PropertyList.write(.dictionary(members), .binary))
  }

  @Test("data that is no bookmark is refused as such") func hostile() throws {
    for data in [Data(), Data("bplist00".utf8), Data("book".utf8), Data(count: 100_000), Data("{ Kind = x; }".utf8)] {
      #expect(code { _ = try resolve(data) } == .fileReadCorruptFile, "\(data.count)")
    }
    let values: [(String, [PropertyListValue?])] = [
      ("Kind", [nil, .string("coffer-bookmark-2"), .integer(1)]),
      (
        "Path",
        [
          nil, .string(""), .string("relative"), .string("/a\u{0}b"), .string("/" + String(repeating: "x", count: 5000)),
          .data([47]),
        ]
      ),
      (
        "Relative",
        [.string("../../etc/passwd"), .string("/etc/passwd"), .string("a//b"), .string("."), .string(""), .boolean(true)]
      ),
      ("Inode", [nil, .string("x"), .string("-1"), .string("99999999999999999999"), .integer(5)]),
      ("BornSeconds", [nil, .string("1"), .unsigned(.max), .real(1)]),
      ("BornNanoseconds", [nil, .integer(-1), .integer(1_000_000_000), .integer(.max)]),
    ]
    for (key, values) in values {
      for value in values {
        let data = try bookmark { $0[key] = value }
        #expect(
          code { _ = try resolve(data, relativeTo: URL(filePath: "/")) } == .fileReadCorruptFile,
          "\(key): \(String(describing: value))")
      }
    }
  }

  @Test("no damage crashes, and damage leads to the file or to an error") func damage() throws {
    let place = try Place()
    let data = try place.file.bookmarkData(relativeTo: place.root)
    // A changed path may name any other file, which does not exist.
    for index in data.indices {
      for value: UInt8 in [0x00, 0x01, 0x80, 0xFF] {
        var spoiled = data
        spoiled[index] ^= value
        do {
          let found = try Bookmark(spoiled).resolve(relativeTo: nil, limit: 100)
          #expect(found.path == place.file.path || place.file.path.hasPrefix(found.path), "\(index): \(found)")
        } catch let error as CocoaError {
          #expect([.fileReadCorruptFile, .fileNoSuchFile].contains(error.code))
        }
      }
      #expect(code { _ = try resolve(data.prefix(index)) } == .fileReadCorruptFile)
    }
  }
}
