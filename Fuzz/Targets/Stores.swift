import CofferTesting

@testable import SecretMemory
@testable import VaultCore

/// A genuine vault, an earlier state of it, and its true answers.
private final class Scene: @unchecked Sendable {
  static let shared = try! Scene()

  let store = MemoryStore()
  let past: MemoryStore
  let anchor: [UInt8]
  let keys: VaultKeys
  let answers: [String]
  let ids: [Identifier]

  init() throws {
    let anchorStore = MemoryAnchorStore()
    var vault = try Vault.throwAway(in: store, anchor: anchorStore)
    let bob = try vault.add(Item(service: "github", account: "bob"), secret: Secret(testing: "old"), at: .test)
    try vault.add(Item(service: "github", account: "alice"), secret: Secret(testing: "secret"), at: .test)
    try vault.createGroup(AccessGroup("team"), at: .test)
    try vault.add(Item(service: "db", account: "ada"), secret: Secret(testing: "deep"), to: AccessGroup("team"), at: .test)
    past = store.copy()
    try vault.update(bob, secret: Secret(testing: "new"), at: .test)
    keys = vault.keys
    ids = store.records.keys.sorted()
    try vault.close()
    anchor = anchorStore.bytes ?? []
    answers = try Self.read(store, anchor)
  }

  /// Each answer separately, so that a refused one does not hide the others. Refusals are empty.
  static func read(_ store: MemoryStore, _ anchor: [UInt8]?) throws -> [String] {
    let vault = try Vault.openThrowAway(store, anchor: anchor.map { MemoryAnchorStore($0) })
    func answer(_ body: () throws -> String) -> String { (try? body()) ?? "" }
    var answers = [answer { "\(try vault.groups())" }, answer { try vault.verify().isSound ? "sound" : "" }]
    for group in [AccessGroup.standard, try AccessGroup("team")] {
      answers.append(answer { "\(try vault.entries(in: group))" })
      for (service, account) in [("github", "bob"), ("github", "alice"), ("db", "ada"), ("no", "body")] {
        answers.append(
          answer {
            guard let entry = try vault.entry(Item(service: service, account: account), in: group) else { return "absent" }
            return "\(entry) \(try vault.secret(of: entry.reference).copyIntoUnprotectedBytes())"
          })
      }
    }
    answers.append(answer { "\(try vault.entries())" })
    return answers
  }

  /// Makes one change of the rows.
  func edit(_ store: MemoryStore, _ choices: inout Choices) {
    func flip(_ bytes: [UInt8]) -> [UInt8] {
      var bytes = bytes
      if let at = choices.index(below: bytes.count) { bytes[at] ^= max(1, choices.byte()) }
      return bytes
    }
    func cut(_ bytes: [UInt8]) -> [UInt8] {
      Array((choices.byte() & 1 == 0 ? bytes : []) + choices.bytes(choices.number() % 512)).dropLast(Int(choices.byte()))
    }
    let row = Int(choices.byte() % 11)
    let prefixes = store.nodes.keys.sorted { $0.lexicographicallyPrecedes($1) }
    let prefix = choices.index(below: prefixes.count).map { prefixes[$0] } ?? []
    let id = ids[choices.index(below: ids.count) ?? 0]
    let other = ids[choices.index(below: ids.count) ?? 0]
    func record(_ id: Identifier, _ change: (inout (group: Identifier, m: [UInt8], a: [UInt8], d: [UInt8], s: [UInt8])) -> Void) {
      guard let old = store.records[id] else { return }
      var parts = (group: old.group, m: old.meta, a: old.attributes, d: old.head.secretDigest, s: old.secret)
      change(&parts)
      let head = RecordHead(
        id: id, group: parts.group, meta: parts.m, attributes: parts.a, secretDigest: parts.d, secretCount: parts.s.count)
      store.records[id] = SealedRecord(head, secret: parts.s)
    }
    switch choices.byte() % 18 {
    case 0: store.header[row] = store.header[row].map(flip)
    case 1: store.header[row] = cut(store.header[row] ?? [])
    case 2: store.header[row] = nil
    case 3: store.header[row] = past.header[row]
    case 4: store.nodes[prefix] = store.nodes[prefix].map(flip)
    case 5: store.nodes[prefix] = cut(store.nodes[prefix] ?? [])
    case 6: store.nodes[prefix] = past.nodes[prefix]
    case 7: store.nodes[choices.bytes(Int(choices.byte() % 4))] = cut(store.nodes[prefix] ?? [])
    case 8: record(id) { $0.m = flip($0.m) }
    case 9: record(id) { $0.a = flip($0.a) }
    case 10: record(id) { $0.s = flip($0.s) }
    case 11: record(id) { $0.m = cut($0.m) }
    case 12: record(id) { $0.group = store.records[other]?.group ?? .zero }
    case 13: store.records[id] = past.records[id]
    case 14: store.records[id] = nil
    case 15:
      guard let copied = store.records[other] else { return }
      store.records[id] = SealedRecord(
        id: choices.byte() & 1 == 0 ? id : other, group: copied.group, meta: copied.meta, attributes: copied.attributes,
        secret: copied.secret)
    case 16: record(id) { $0.d = flip($0.d) }
    default: record(id) { ($0.a, $0.s) = ($0.s, $0.a) }
    }
  }

  /// Makes all digests valid again, which only the holder of the keys can do.
  func sign(_ store: MemoryStore) throws {
    guard let bytes = store.header[0], var header = try? SealedHeader(parsing: bytes).header, header.vault == keys.vault else {
      return
    }
    var root = Node(prefix: [], isLeaf: true)
    for (id, record) in store.records.sorted(by: { $0.key < $1.key }) { root.append(id, keys.integrity.leaf(record.head)) }
    store.nodes = [[]: root.body]
    header.depth = 0
    header.root = keys.integrity.node(root, depth: 0)
    header.recordCount = UInt64(root.count)
    if let rows = try? SlotRows(reading: store) {
      header.slotsDigest = keys.integrity.slotsDigest(rows)
      header.slotCount = UInt32(rows.slots.count)
      header.previousMAC = rows.history.last ?? .zero
    }
    store.header[0] = header.sealed(with: keys.integrity).bytes
  }

  /// Seals other contents in a record of an item or a group.
  func reseal(_ store: MemoryStore, _ id: Identifier, _ choices: inout Choices) throws {
    guard let record = store.records[id] else { return }
    let sealed = try SealedHeader(parsing: store.header[0] ?? []).header
    let meta = try RecordMeta(parsing: record.head, header: sealed)
    let seal = RecordSeal(vault: keys.vault, id: id, group: record.group, meta: meta)
    let isAttributes = choices.byte() & 1 == 0
    let content = choices.bytes(choices.number())
    func put(_ key: borrowing Key) throws {
      let attributes =
        isAttributes ? content : try seal.open(.attributes, record.attributes, with: key).copyIntoUnprotectedBytes()
      let secret = isAttributes ? try seal.open(.secret, record.secret, with: key) : try Secret(testing: content)
      store.records[id] = try seal.seal(attributes: attributes, secret: secret, with: key)
    }
    let system = try keys.withMaster { try $0.derive(.vault(.systemGroup, keys.vault)) }
    guard meta.kind == .item else { return try put(system) }
    for candidate in self.store.records.values where candidate.group == .zero {
      let meta = try RecordMeta(parsing: candidate.head, header: sealed)
      let group = try keys.openGroup(candidate.head, secret: candidate.secret, meta: meta)
      if group.groupID == record.group { try put(group.key(meta.accessibility, epoch: meta.epoch, keys: keys)) }
    }
  }
}

extension FuzzTarget {
  static let stores: [FuzzTarget] = [
    // After any change of the rows, an answer is true or refused.
    FuzzTarget("store") { bytes in
      var choices = Choices(bytes)
      let store = Scene.shared.store.copy()
      repeat { Scene.shared.edit(store, &choices) } while !choices.isEmpty
      let answers = try Scene.read(store, Scene.shared.anchor)
      for (answer, truth) in zip(answers, Scene.shared.answers) where !answer.isEmpty {
        try promise(answer == truth, "\(answer) instead of \(truth)")
      }
      let isSame =
        store.header == Scene.shared.store.header && store.nodes == Scene.shared.store.nodes
        && store.records == Scene.shared.store.records
      try promise(answers[1].isEmpty || isSame, "a vault that is sound has no other row")
      // A new item can be added and read.
      var vault = try Vault.openThrowAway(store)
      let reference = try vault.add(Item(service: "new", account: "item"), secret: Secret(testing: "x"), at: .test)
      let secret = try vault.secret(of: reference).copyIntoUnprotectedBytes()
      try promise(secret == [0x78], "what was added is read")
    },
    // Even with all keys, manipulated rows do not trap.
    FuzzTarget("store-signed") { bytes in
      var choices = Choices(bytes)
      let store = Scene.shared.store.copy()
      repeat {
        if choices.byte() & 1 == 0 {
          Scene.shared.edit(store, &choices)
        } else {
          let ids = Scene.shared.ids
          try Scene.shared.reseal(store, ids[Int(choices.byte()) % ids.count], &choices)
        }
      } while !choices.isEmpty
      try Scene.shared.sign(store)
      _ = try Scene.read(store, nil)
      var vault = try Vault.openThrowAway(store)
      try vault.add(Item(service: "new", account: "item"), secret: Secret(testing: "x"), at: .test)
      _ = try vault.verify()
    },
  ]
}
