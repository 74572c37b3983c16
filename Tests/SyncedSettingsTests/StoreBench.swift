import AppContainers
import CofferFiles
import CofferPreferences
import CofferPropertyLists
import Foundation
import VaultCore

@testable import SyncedSettings

/// One store in a directory of the test. Each call of `app` and `projection` behaves as a process of its own.
final class StoreBench {
  let root: URL
  var directory: PreferenceDirectory { PreferenceDirectory(root.appending(path: "SyncedPreferences").path) }

  init() throws {
    root = FileManager.default.temporaryDirectory.appending(path: "coffer-synced-\(UUID())")
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  func app() throws -> SyncedStore { SyncedStore(try DomainName("com.example.app"), in: directory) }

  func projection() throws -> SyncedProjection {
    SyncedProjection(try app(), hash: Self.hash)
  }

  static func hash(_ bytes: [UInt8]) -> [UInt8] { Digest.hash(bytes, byteCount: 32) }

  var data: DataDirectory { get throws { try DataDirectory(at: root.path) } }
}

extension SyncedChange {
  init(_ key: String, _ value: PropertyListValue?, _ number: UInt8 = 1, refusing refused: PropertyListValue? = nil) {
    self.init(key, value, dot: Array(repeating: number, count: 16), entry: UInt64(number), refusing: refused)
  }
}

extension SyncedProjection {
  /// As a log that takes each value.
  func sendAll(_ number: UInt8 = 1) throws {
    for item in try pending() {
      try sent(item.key, hash: item.hash, dot: Array(repeating: number, count: 16), entry: UInt64(number))
    }
  }

  var pendingKeys: [String] { get throws { try pending().map(\.key) } }
}
