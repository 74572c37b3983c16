import CofferTesting

@testable import SecretMemory
@testable import VaultCore

extension FuzzTarget {
  static let vault = Identifier([UInt8](repeating: 0x40, count: 16)) ?? .zero

  static func key(_ byte: UInt8 = 7) throws -> Key {
    guard let key = Key(try Secret(testing: [UInt8](repeating: byte, count: 32))) else { throw Broken(promise: "a key") }
    return key
  }

  static func keys() throws -> VaultKeys { try VaultKeys(master: key(), vault: vault, device: nil) }

  /// Rows of the container that are read without or with the keys.
  static let parsers: [FuzzTarget] = [
    FuzzTarget("header") { bytes in
      let sealed = try SealedHeader(parsing: bytes)
      let again = sealed.header.sealed(with: try keys().integrity)
      try promise(again.bytes.prefix(224) == bytes.prefix(224), "a header is encoded as it was read")
      try promise(try SealedHeader(parsing: again.bytes).header == sealed.header, "and read as it was")
    },
    FuzzTarget("slot") { bytes in
      let slot = try KeySlot(index: 1, parsing: bytes)
      try promise(slot.bytes == bytes && slot.sealedMasterKey.count == 72 && slot.salt.count == 16, "the parts of a slot")
      try promise((slot.kdf != nil) == slot.type.hasPassphrase, "a passphrase has parameters, nothing else has")
      if let kdf = slot.kdf { try promise(kdf.iterations >= 3 && kdf.memoryKiB >= 65_536, "the floor") }
      guard !slot.type.hasPassphrase else { return }
      let opened = try slot.open(with: .throwAway(), vault: vault, ceiling: .standard)
      if opened != nil { throw Broken(promise: "nobody guesses a commitment") }
    },
    FuzzTarget("slot-rows") { bytes in
      var choices = Choices(bytes)
      let store = MemoryStore()
      while !choices.isEmpty {
        let key = Int(Int8(bitPattern: choices.byte()))
        store.header[key] = choices.bytes(choices.number() % 5000)
      }
      let rows = try SlotRows(reading: store)
      try promise(rows.slots.keys.allSatisfy { (1...8).contains($0) } && !rows.slots.isEmpty, "slots lie in rows 1 to 8")
      try promise(rows.history.count <= 64, "the ring's length")
      try promise(rows.all.allSatisfy { store.header[$0.key] == $0.bytes }, "rows are encoded as they were read")
      for generation in [0, 1, 2, 64, 65, UInt64.max] {
        for current in [0, 1, 2, 64, 65, 66, UInt64.max] {
          let found = rows.mac(ofGeneration: generation, before: current)
          try promise(found == nil || generation < current, "the ring holds the past")
        }
      }
      _ = try rows.parsed()
    },
    FuzzTarget("node") { bytes in
      var choices = Choices(bytes)
      let isLeaf = choices.byte() & 1 == 0
      let prefix = choices.bytes(Int(choices.byte() % 3))
      let body = choices.rest()
      var node = Node(prefix: prefix, isLeaf: isLeaf, unchecked: body)
      try node.checkOrder()
      for index in 0..<node.count {
        let key = Array(node.key(at: index))
        try promise(node.digest(of: key) == node.digest(at: index), "each key is found")
        node.set(key, to: nil)
        try promise(node.digest(of: key) == nil, "and is gone when removed")
        node.set(key, to: Digest(body.dropFirst(index * (node.keyByteCount + 32) + node.keyByteCount).prefix(32)))
        try promise(node.body == body, "and back where it was")
      }
    },
    FuzzTarget("record-meta") { bytes in
      var choices = Choices(bytes)
      let generation = UInt64(choices.number())
      let group = choices.byte() & 1 == 0 ? Identifier.zero : vault
      let (attributes, secret) = (choices.number(), choices.number())
      let header = Header(
        vault: vault, generation: generation, recordCount: 1, created: .test, masterEpoch: UInt32(choices.byte()), slotCount: 1,
        slotsDigest: .zero, root: .zero, previousMAC: .zero)
      let first = choices.byte()
      let record = RecordHead(
        id: Identifier([first] + [UInt8](repeating: 0x40, count: 15)) ?? .zero, group: group, meta: choices.rest(),
        attributes: [UInt8](repeating: 0, count: attributes), secretDigest: Digest.zero.bytes, secretCount: secret)
      // No header has a generation of 0.
      guard generation > 0 else { return }
      let meta = try RecordMeta(parsing: record, header: header)
      try promise(meta.bytes == record.meta, "what is read is encoded the same")
      try promise(meta.version <= generation && meta.version > 0 && meta.epoch > 0, "its bounds")
      try promise(meta.kind != .item || group != .zero, "items are in a group")
      try promise(meta.kind.firstBytes.contains(first), "an identifier tells the kind")
    },
    FuzzTarget("anchor") { bytes in
      let keys = try keys().integrity
      let anchor = try Anchor(parsing: bytes, keys: keys)
      try promise(anchor.sealed(with: keys) == bytes && anchor.vault == vault, "an anchor is encoded as it was read")
    },
    FuzzTarget("anchor-signed") { bytes in
      let keys = try keys().integrity
      let signed = Array(bytes.prefix(64)) + keys.anchorMAC(Array(bytes.prefix(64))).bytes
      let anchor = try Anchor(parsing: signed, keys: keys)
      try promise(anchor.sealed(with: keys) == signed, "an anchor is encoded as it was read")
    },
  ]

  /// The contents of boxes.
  static let contents: [FuzzTarget] = [
    FuzzTarget("box") { bytes in
      _ = try SecretBox.open(bytes, key: key())
      throw Broken(promise: "nobody guesses an authenticator")
    },
    FuzzTarget("padding") { bytes in
      let field = try Padding.unpad(Secret(testing: bytes))
      let again = try Padding.pad(field).copyIntoUnprotectedBytes()
      try promise(again == bytes, "one padding for each field")
    },
    FuzzTarget("attributes") { bytes in
      let attributes = try TLV.decode(bytes)
      try promise(TLV.encode(attributes) == bytes, "one encoding for each list")
    },
    FuzzTarget("item") { bytes in
      let item = try Item(decoding: bytes)
      try promise(item.encoded == bytes, "one encoding for each item")
      _ = TLV.encode(item.primaryKey)
      if let checked = try? item.checked(keeping: item.attributes) {
        try promise(checked == item, "what is in the vault needs no change")
      }
    },
    FuzzTarget("group") { bytes in
      var choices = Choices(bytes)
      let attributes = choices.bytes(choices.number())
      let plain = choices.rest()
      let group = try GroupKeys.decode(attributes: attributes, secret: Secret(testing: plain), version: 1)
      let again = try group.encodeSecret().copyIntoUnprotectedBytes()
      try promise(again == plain, "one encoding for each group")
      if try TLV.decode(attributes).count == 2 { try promise(group.attributes == attributes, "and for its name") }
      _ = group.itemID(Item(service: "s", account: "a"))
      for (accessibility, epoch) in group.keyNames { _ = try? group.key(accessibility, epoch: epoch, keys: keys()) }
    },
  ]
}
