import CofferPropertyLists
import Foundation
import Testing

@testable import CofferPreferences

/// Lists keep files open, so unused ones are released.
@Suite struct ListsInUseTests {
  @Test func manySuitesKeepFewFilesOpen() async {
    // A separate process, because the number of its descriptors is measured.
    await #expect(processExitsWith: .success) {
      let root = FileManager.default.temporaryDirectory.appending(path: "coffer-suites-\(UUID())").path
      defer { try? FileManager.default.removeItem(atPath: root) }
      let lists = SearchLists(
        places: SearchPlaces(user: root), volatileDomains: VolatileDomains(arguments: []), source: FileDomainSource())
      func descriptors() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
      let kept = lists.list(try DomainName("kept"))
      let before = try descriptors()
      for number in 0..<200 {
        let list = lists.list(try DomainName("suite.\(number)")).application
        precondition(list.own.keep(.integer(Int64(number)), forKey: "key") == nil)
      }
      let after = try descriptors()
      precondition(after - before < 3 * SearchLists.recentCount, "\(after - before) more descriptors")
      // No values are lost with a released list, and a list in use stays the same.
      for number in 0..<200 {
        let value = lists.list(try DomainName("suite.\(number)")).application.list.value(forKey: "key")
        precondition(value == .integer(Int64(number)), "suite.\(number)")
      }
      let again = lists.list(try DomainName("kept"))
      precondition(again === kept)
    }
  }
}
