import CofferPreferences
import CofferPropertyLists
import Foundation
import Testing

@Suite struct PlacesTests {
  private func user(_ environment: [String: String]) throws -> String {
    try SearchPlaces { environment[$0] }.user
  }

  @Test("the preferences lie in the data directory of the user")
  func userDirectory() throws {
    #expect(try user(["COFFER_HOME": "/c", "XDG_DATA_HOME": "/x", "HOME": "/h"]) == "/c/Preferences")
    #expect(try user(["XDG_DATA_HOME": "/x", "HOME": "/h"]) == "/x/coffer/Preferences")
    #expect(try user(["COFFER_HOME": "", "XDG_DATA_HOME": "relative", "HOME": "/h"]) == "/h/.local/share/coffer/Preferences")
    #expect(try user([:]).hasSuffix("/.local/share/coffer/Preferences"))
    #expect(throws: PreferenceError(.noPlace)) { try user(["COFFER_HOME": "relative", "HOME": "/h"]) }
  }

  @Test func noVariableMovesTheAdministratorsDirectories() throws {
    let places = try SearchPlaces { "/somewhere/\($0)" }
    #expect(places.managed == "/etc/coffer/managed")
    #expect(places.anyUser == "/etc/coffer/preferences")
    #expect(places.managedUser == "/etc/coffer/managed/users/\(getuid())")
    #expect(places.byHost == places.user + "/ByHost")
  }

  @Test func hostIdentifier() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "machine-id-\(UUID())")
    defer { try? FileManager.default.removeItem(at: file) }
    let good = "0123456789abcdef0123456789abcdef"
    for (text, expected) in [
      (good, good), (good + "\n", good), (good + "\n\n", nil), ("uninitialized\n", nil), (String(repeating: "0", count: 32), nil),
      ("../../../../../../../../etc/passwd", nil), (good.uppercased(), nil), ("", nil),
    ] {
      try text.write(to: file, atomically: false, encoding: .utf8)
      #expect(HostIdentifier.read(file.path) == expected, "\(text)")
    }
    #expect(HostIdentifier.read(file.path + ".none") == nil)
    #expect(HostIdentifier.digest(of: "host") == HostIdentifier.digest(of: "host"))
    #expect(HostIdentifier.digest(of: "host") != HostIdentifier.digest(of: "hosu"))
    #expect(HostIdentifier.digest(of: "").count == 32)
    #expect(HostIdentifier.current.count == 32)
  }
}
