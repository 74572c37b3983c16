import CofferTesting
import SecretMemory
import VaultCore

@testable import CofferSync

extension FuzzTarget {
  private static func locked(_ bytes: [UInt8]) throws -> LockedBytes { LockedBytes(try Secret(testing: bytes)) }

  /// Bytes that the engine returns, and those that members have sealed.
  static let sync: [FuzzTarget] = [
    FuzzTarget("sync-entry") { bytes in
      let entry = try SealedEntry(parsing: bytes)
      try promise(entry.clear.count + entry.box.count + SealedEntry.headerByteCount == bytes.count, "the parts are the whole")
      var cause: VoidCause?
      do { _ = try entry.open(locked([UInt8](repeating: 7, count: 32))) } catch let void as VoidCause { cause = void }
      try promise(cause == .seal, "nobody guesses a key")
    },
    FuzzTarget("sync-body") { bytes in
      let author = Identifier([UInt8](repeating: 1, count: 16)) ?? .zero
      let values = try ValueKey()
      guard let kind = bytes.first else { return }
      var reader = BodyReader(try locked(bytes), from: 1)
      let body = try Body(kind: kind, author: author, reading: &reader, values)
      let again = try body.encoded(by: author, values).secret.copyIntoUnprotectedBytes()
      try promise(body.payload.kind == kind && again == Array(bytes.dropFirst()), "a body is encoded as it was read")
    },
    FuzzTarget("sync-item") { bytes in
      let content = try ItemContent(parsing: bytes)
      try promise(content.bytes == bytes, "an item is encoded as it was read")
      try promise(!content.accessibility.isThisDeviceOnly && !content.group.name.hasPrefix("coffer."), "only shared items")
    },
    FuzzTarget("sync-setting") { bytes in
      try promise(try SettingContent(parsing: bytes).bytes == bytes, "a setting is encoded as it was read")
    },
    FuzzTarget("sync-state") { bytes in
      // The digest of the state comes first, so that its rows are reached: any is right.
      let values = try ValueKey()
      var digest = try StateDigest()
      var reader = BodyReader(try locked(bytes))
      var rows: [LockedBytes] = []
      while reader.remaining > 0 {
        let start = reader.position
        let row = try StateRow(reading: &reader, generation: SpaceState.maximumAge, values)
        var writer = BodyWriter()
        reader.write(from: start, to: &writer)
        let read = try writer.finish()
        try row.write(to: &writer, in: SpaceState.maximumAge, values)
        try promise(writer.count == row.byteCount, "a row is as long as it says")
        try promise(writer.finish().isEqual(to: read), "a row is encoded as it was read")
        rows.append(read)
        try digest.add { $0.append(read) }
      }
      guard !rows.isEmpty else { return }
      let expected = digest.finish()
      let state = try SpaceState([bytes], digest: expected, values, open: locked, store: { _, _ in nil })
      try promise(try state.digest(values) == expected, "a state has the digest of its rows")
    },
    FuzzTarget("sync-welcome") { bytes in
      let again = try Welcome(parsing: locked(bytes)).encoded().secret.copyIntoUnprotectedBytes()
      try promise(again == bytes, "a welcome is encoded as it was read")
    },
  ]
}
