package import SecretMemory

/// Rows 1 to 9 of `hdr`: the slots, and the MACs of up to 64 generations before this one. Sections 4.2 and 4.3 of FORMAT.md.
package struct SlotRows {
  package static let historyLength = 64

  package private(set) var slots: [Int: [UInt8]] = [:]
  /// Oldest first; the last one is the header's `previousMAC`.
  private(set) var history: [Digest] = []

  /// For a vault that is being made.
  init() {}

  /// Reads and proves the rows against their header, which must be proven.
  /// - Throws: `slotsForged`, and what the store throws.
  package init(proving rows: any Rows, header: Header, keys: IntegrityKeys) throws {
    try self.init(reading: rows)
    let expectedCount = Int(clamping: min(UInt64(Self.historyLength), header.generation - 1))
    guard keys.slotsDigest(self) == header.slotsDigest, slots.count == Int(header.slotCount), history.count == expectedCount,
      history.last ?? .zero == header.previousMAC
    else { throw VaultError(.slotsForged) }
  }

  /// Reads the rows without proof.
  /// - Throws: `headerMalformed` for rows that the format does not have, or no slot; `slotsForged` for a ring of another shape.
  package init(reading rows: any Rows) throws {
    for key in try rows.headerKeys() where key != 0 {
      guard (1...Int64(Header.historyKey)).contains(key) else { throw VaultError(.headerMalformed, "row \(key)") }
      let key = Int(key)
      guard let bytes = try rows.header(key) else { throw VaultError(.headerMalformed, "row \(key)") }
      if SlotDescription.indices.contains(key) {
        slots[key] = bytes
        continue
      }
      guard !bytes.isEmpty, bytes.count % Digest.byteCount == 0, bytes.count / Digest.byteCount <= Self.historyLength else {
        throw VaultError(.slotsForged, "the history ring has \(bytes.count) bytes")
      }
      history = stride(from: 0, to: bytes.count, by: Digest.byteCount).map {
        Digest(unchecked: Array(bytes[$0..<$0 + Digest.byteCount]))
      }
    }
    guard !slots.isEmpty else { throw VaultError(.headerMalformed, "no slot") }
  }

  /// Every row, ascending.
  var all: [(key: Int, bytes: [UInt8])] {
    var rows = slots.sorted { $0.key < $1.key }.map { (key: $0.key, bytes: $0.value) }
    if !history.isEmpty { rows.append((key: Header.historyKey, bytes: historyBytes)) }
    return rows
  }

  var historyBytes: [UInt8] { history.flatMap(\.bytes) }

  /// The MAC of an earlier generation, if the ring reaches back to it.
  func mac(ofGeneration generation: UInt64, before current: UInt64) -> Digest? {
    guard generation < current, current - generation <= UInt64(history.count) else { return nil }
    return history[history.count - Int(current - generation)]
  }

  mutating func append(_ mac: Digest) {
    history.append(mac)
    if history.count > Self.historyLength { history.removeFirst() }
  }

  /// - Throws: `slotMalformed`, `unknownSlotType`, `kdfBelowFloor`.
  package func parsed() throws(VaultError) -> [KeySlot] {
    try slots.sorted { $0.key < $1.key }.map { (slot) throws(VaultError) in try KeySlot(index: slot.key, parsing: slot.value) }
  }

  mutating func setSlot(_ key: Int, _ bytes: [UInt8]?) {
    precondition(SlotDescription.indices.contains(key))
    slots[key] = bytes
  }
}
