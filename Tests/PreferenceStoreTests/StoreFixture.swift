import CofferPreferences
import CofferPropertyLists
import Foundation
import PreferenceStore
import Synchronization
import Testing

import class PreferenceStore.UserDefaults

/// Stores with their own files, as in a process. Removed at the end, unless they belong to another fixture.
final class StoreFixture: Sendable {
  let root: URL
  private let isOwner: Bool
  let lists: SearchLists
  static let name = "com.example.app"

  init(root: URL? = nil, arguments: [String] = [], _ prepare: (StoreFixture.Files) throws -> Void = { _ in }) throws {
    isOwner = root == nil
    let root = root ?? FileManager.default.temporaryDirectory.appending(path: "coffer-store-\(UUID())")
    self.root = root
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    try prepare(Files(root: root))
    let places = SearchPlaces(
      user: root.appending(path: "Preferences").path, managed: root.appending(path: "managed").path,
      anyUser: root.appending(path: "anyUser").path, languages: [root.appending(path: "Languages").path],
      host: "0123456789abcdef0123456789abcdef", userIdentifier: 1000, administrator: geteuid())
    lists = SearchLists(
      places: places, volatileDomains: VolatileDomains(arguments: ["program"] + arguments), source: FileDomainSource())
    ChangeWatch.start()
  }

  deinit { if isOwner { try? FileManager.default.removeItem(at: root) } }

  struct Files {
    let root: URL
    func write(_ values: [String: Any], to path: String) throws {
      let file = root.appending(path: path)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try PropertyListSerialization.data(fromPropertyList: values, format: .xml, options: 0).write(to: file, options: .atomic)
      guard path.hasPrefix("managed/") else { return }
      // Only the owner may write, with any umask.
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
      var directory = file.deletingLastPathComponent()
      while directory.path.utf8.count > root.path.utf8.count {
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path)
        directory.deleteLastPathComponent()
      }
    }
  }

  var files: Files { Files(root: root) }

  var name: DomainName {
    get throws { try DomainName(Self.name) }
  }

  var standard: UserDefaults {
    get throws { UserDefaults(lists, try name) }
  }

  func suite(_ name: String?) throws -> UserDefaults? { UserDefaults(lists, try self.name, suiteName: name) }
}

final class Recorder<Element: Sendable>: Sendable {
  private let state = Mutex<[Element]>([])
  func add(_ element: Element) { state.withLock { $0.append(element) } }
  var all: [Element] { state.withLock { $0 } }
}

/// Observes the notifications of one store, which are posted on the thread of the change.
final class Notifications: @unchecked Sendable {
  private let external = Recorder<Bool>()
  private let token: any NSObjectProtocol

  init(of store: UserDefaults?, _ name: Notification.Name = UserDefaults.didChangeNotification) {
    token = NotificationCenter.default.addObserver(forName: name, object: store, queue: nil) { [external] in
      external.add($0.userInfo?[UserDefaults.isExternalKey] as? Bool ?? false)
    }
  }

  deinit { NotificationCenter.default.removeObserver(token) }

  var all: [Bool] { external.all }
  var count: Int { all.count }
}

/// Polls until the condition holds, at most for the given seconds.
func eventually(within seconds: Double = 300, _ condition: () throws -> Bool) rethrows -> Bool {
  let end = Date(timeIntervalSinceNow: seconds)
  while Date() < end {
    if try condition() { return true }
    usleep(2000)
  }
  return try condition()
}
