import CofferPreferences
import CofferPropertyLists
import Foundation
import Testing

@Suite struct WatchThreadTests {
  /// Also if watched directories are missing: a polling thread would drain batteries.
  @Test func theThreadSleepsWhileNothingHappens() async {
    await #expect(processExitsWith: .success) {
      let root = FileManager.default.temporaryDirectory.appending(path: "coffer-watch-\(UUID())")
      defer { try? FileManager.default.removeItem(at: root) }
      var options = FileDomain.Options()
      options.isCreating = false
      let there = FileDomain(try DomainName("there"), in: PreferenceDirectory(root.appending(path: "a").path))
      let missing = FileDomain(try DomainName("missing"), in: PreferenceDirectory(root.appending(path: "b/c/d").path), options)
      ChangeWatch.start()
      try there.set(.integer(1), forKey: "key")
      // Wait until the value is on the disk and in the property list.
      try await Task.sleep(for: .seconds(4))
      var count = Int.max
      // This takes longer if the disk or the processor is busy.
      for _ in 0..<60 where count >= 5 {
        let before = try #require(WatchThreadTests.switches)
        try await Task.sleep(for: .seconds(2))
        count = try #require(WatchThreadTests.switches) - before
      }
      precondition(count < 5, "\(count) times in two seconds")
      withExtendedLifetime(missing) {}
    }
  }

  /// Programs that call `synchronize()` after each change have their values in the property list as well.
  @Test(.timeLimit(.minutes(60))) func synchronisedValuesReachThePropertyList() async {
    await #expect(processExitsWith: .success) {
      let root = FileManager.default.temporaryDirectory.appending(path: "coffer-watch-\(UUID())")
      defer { try? FileManager.default.removeItem(at: root) }
      let domain = FileDomain(try DomainName("there"), in: PreferenceDirectory(root.path))
      ChangeWatch.start()
      try domain.set(.integer(1), forKey: "key")
      try domain.synchronize()
      let file = root.appending(path: "there.plist")
      for _ in 0..<3000 where !FileManager.default.fileExists(atPath: file.path) {
        try await Task.sleep(for: .milliseconds(100))
      }
      precondition(FileManager.default.fileExists(atPath: file.path), "not in the property list")
      withExtendedLifetime(domain) {}
    }
  }

  @Test(.timeLimit(.minutes(60))) func aDirectoryThatAppearsIsSeen() async {
    await #expect(processExitsWith: .success) {
      let root = FileManager.default.temporaryDirectory.appending(path: "coffer-watch-\(UUID())")
      try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: root) }
      var options = FileDomain.Options()
      options.isCreating = false
      let directory = PreferenceDirectory(root.appending(path: "b/c/d").path)
      let reader = FileDomain(try DomainName("new"), in: directory, options)
      let told = DispatchSemaphore(value: 0)
      let observation = reader.observe { change in
        if change.keys.contains(where: { $0.name == "key" && $0.new == .integer(7) }) { told.signal() }
      }
      ChangeWatch.start()
      try await Task.sleep(for: .milliseconds(300))
      // Step by step, as another program would do.
      for name in ["b", "b/c", "b/c/d"] {
        try FileManager.default.createDirectory(at: root.appending(path: name), withIntermediateDirectories: false)
        try await Task.sleep(for: .milliseconds(50))
      }
      try FileDomain(try DomainName("new"), in: directory).set(.integer(7), forKey: "key")
      precondition(told.wait(timeout: .now() + 300) == .success, "nobody said so")
      observation.cancel()
    }
  }

  /// The number of voluntary context switches of the thread.
  static var switches: Int? {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    for task in tasks {
      guard let text = try? String(contentsOfFile: "/proc/self/task/\(task)/status", encoding: .utf8),
        text.hasPrefix("Name:\tcoffer-watch\n"),
        let line = text.split(separator: "\n").first(where: { $0.hasPrefix("voluntary_ctxt_switches:") })
      else { continue }
      return line.split(separator: "\t").last.flatMap { Int($0) }
    }
    return nil
  }
}
