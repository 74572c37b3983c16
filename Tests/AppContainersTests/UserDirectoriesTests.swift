import AppContainers
import CofferFiles
import Glibc
import Testing

@Suite struct UserDirectoriesTests {
  static let all = [
    "COFFER_HOME": "/c", "HOME": "/h", "XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "/s/", "XDG_RUNTIME_DIR": "/r",
  ]

  private func directories(_ environment: [String: String], isElevated: Bool = false) throws -> [String?] {
    let directories = try UserDirectories(isElevated: isElevated) { environment[$0] }
    return [try directories.dataDirectory(), try directories.stateDirectory(), directories.runtime]
  }

  private var home: String { unsafe String(cString: getpwuid(geteuid()).pointee.pw_dir) }

  @Test func theVariablesInTheirOrder() throws {
    var environment = Self.all
    #expect(try directories(environment) == ["/c", "/c/state", "/c/run"])
    environment["COFFER_HOME"] = ""
    #expect(try directories(environment) == ["/d/coffer", "/s/coffer", "/r/coffer"])
    for name in ["XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"] { environment[name] = "relative" }
    #expect(try directories(environment) == ["/h/.local/share/coffer", "/h/.local/state/coffer", nil])
    environment["HOME"] = nil
    #expect(try directories(environment) == ["\(home)/.local/share/coffer", "\(home)/.local/state/coffer", nil])
  }

  @Test func aRelativeCofferHomeIsAnError() {
    #expect(throws: UserDirectories.Failure.relativePath("c")) { try directories(["COFFER_HOME": "c", "HOME": "/h"]) }
  }

  @Test func noVariableCountsWithTheRightsOfAnother() throws {
    let expected = ["\(home)/.local/share/coffer", "\(home)/.local/state/coffer", nil]
    #expect(try directories(Self.all, isElevated: true) == expected)
    #expect(try directories(["COFFER_HOME": "relative"], isElevated: true) == expected)
    #expect(!Environment.isElevated)
  }
}
