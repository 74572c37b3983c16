import VaultCore

@testable import CofferSync

/// The quota of the one store, counted anew from all of its settings for each operation.
struct QuotaModel {
  private struct Setting {
    var contents: [Identifier: (modified: Int64, bytes: Int)] = [:]
    var lives: [Identifier: Bool] = [:]
    /// With the register: 1 or 3.
    var gone: Set<[UInt8]> = []

    var bytes: Int {
      let shown = contents.filter { lives[$0.key] == true }
      return shown.max { ($0.value.modified, $0.key) < ($1.value.modified, $1.key) }?.value.bytes ?? 0
    }

    mutating func apply(_ operation: CofferSync.Operation) throws {
      for part in operation.parts {
        for dot in part.replaced {
          contents[dot] = part.register == .content ? nil : contents[dot]
          lives[dot] = part.register == .life ? nil : lives[dot]
          gone.insert([part.register.rawValue] + dot.bytes)
        }
        guard !gone.contains([part.register.rawValue] + operation.dot.bytes) else { continue }
        if part.register == .life {
          lives[operation.dot] = part.value == CofferSync.Operation.alive
        } else {
          contents[operation.dot] = (operation.modified, try Self.bytes(part.value))
        }
      }
    }

    private static func bytes(_ value: Value) throws -> Int {
      if case .object(_, let count, _) = value { return count }
      guard case .clear(let bytes) = value else { return 0 }
      return try SettingContent(parsing: bytes).value.count
    }
  }

  private(set) var refused: Set<Identifier> = []
  private(set) var used = 0

  /// - Parameter operations: All of the log, in its order.
  init(_ operations: [CofferSync.Operation]) throws {
    var settings: [Identifier: Setting] = [:]
    var known: Set<Identifier> = []
    for operation in operations where operation.kind == .setting && known.insert(operation.dot).inserted {
      var next = settings
      try next[operation.tag, default: Setting()].apply(operation)
      let bytes = next.values.reduce(0) { $0 + $1.bytes }
      if bytes > max(used, SettingsQuota.maximumByteCount) {
        refused.insert(operation.dot)
      } else {
        (settings, used) = (next, bytes)
      }
    }
  }
}
