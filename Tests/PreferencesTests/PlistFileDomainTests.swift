import CofferPropertyLists
import Foundation
import Glibc
import Testing

@testable import CofferPreferences

@Suite struct PlistFileDomainTests {
  /// A process without a free descriptor must not take managed settings for removed ones, however often it looks.
  @Test func valuesStayWhileTheFileCannotBeReadForAWhile() async {
    await #expect(processExitsWith: .success) {
      let directory = FileManager.default.temporaryDirectory.appending(path: "coffer-plist-\(UUID())")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: directory) }
      let (path, new) = (directory.appending(path: "a.plist").path, directory.appending(path: "new").path)
      for (file, value) in [(path, "first"), (new, "second")] {
        var values = PropertyListDictionary()
        values["key"] = .string(value)
        try Data(PropertyList.writeExactly(.dictionary(values))).write(to: URL(filePath: file))
      }
      let domain = PlistFileDomain(path: path)
      var former = rlimit()
      unsafe getrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &former)
      var none = rlimit(rlim_cur: 0, rlim_max: former.rlim_max)
      unsafe setrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &none)
      _ = unsafe rename(new, path)
      let isQuiet = !domain.filesHaveChanged([]) && !domain.lookAgain() && !domain.lookAgain()
      let (isUnread, value) = (domain.isUnread, domain.value(forKey: "key"))
      unsafe setrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &former)
      #expect(isQuiet && isUnread && value == .string("first"))
      _ = domain.lookAgain()
      #expect(!domain.isUnread && domain.value(forKey: "key") == .string("second"))
    }
  }
}
