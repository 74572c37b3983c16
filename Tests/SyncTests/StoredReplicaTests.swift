import CofferTesting
import SecretMemory
import Testing
import VaultCore

@testable import CofferSync
@testable import SyncSimulation

extension Replica {
  /// All properties as text, by their names. It is equal for replicas that act alike.
  func properties() throws -> [String: String] {
    var texts: [String: String] = [:]
    for child in Mirror(reflecting: self).children {
      // A replica that is read back counts all items as touched, and no entries as put back.
      guard let label = child.label, !["identity", "values", "touched", "restoredCount"].contains(label) else { continue }
      texts[label] = label == "state" ? try stateText() : Self.text(child.value)
    }
    return texts
  }

  /// Ages above the greatest are not told apart, so the state is that of its rows.
  private func stateText() throws -> String {
    let stores = state.quota.stores.map { "\($0.key.bytes) \($0.value) \(state.quota.used(by: $0.value))" }.sorted()
    return "\(try state.digest(values).bytes) \(stores)"
  }

  private static func text(_ value: Any) -> String {
    switch value {
    case let bytes as LockedBytes: return "\(bytes.secret.copyIntoUnprotectedBytes())"
    case let number as any BinaryInteger: return "\(number)"
    case let text as String: return text
    default: break
    }
    let mirror = Mirror(reflecting: value)
    // The box of a sealed secret is another one each time.
    let children = mirror.children.filter { $0.label != "box" }.map { "\($0.label ?? ""):\(text($0.value))" }
    let isOrdered = mirror.displayStyle != .dictionary && mirror.displayStyle != .set
    return children.isEmpty ? "\(value)" : "(\((isOrdered ? children : children.sorted()).joined(separator: ",")))"
  }
}

/// A replica as bytes. The simulation reads each device back after a crash.
@Suite struct StoredReplicaTests {
  /// A property that is not stored is found, also one that is new: in some schedule it has another value than in a new replica.
  @Test func everyPropertyIsStored() throws {
    let new = try Replica(Space.identity(200), space: .zero, ValueKey()).properties()
    // The other tests have these.
    var rest = Set(new.keys).subtracting([
      "uploads", "namedObjects", "refused", "hints", "wantsPresence", "awaitedRemovals", "strays",
      "isErased",
    ])
    #expect(rest.count >= 15)
    for seed in UInt64(0)..<1000 where !rest.isEmpty {
      _ = try Simulation.run(seed: seed) { devices in
        for device in devices {
          let before = try device.replica.properties()
          let after = try device.replica.restored().properties()
          for (name, text) in before {
            #expect(text == after[name], "seed \(seed): \(name)")
            if text != new[name] { rest.remove(name) }
          }
        }
      }
    }
    #expect(rest.isEmpty)
  }

  @Test func largeValuesThatWaitAndHintsAreStored() throws {
    var space = try Space()
    try Space.write("bob", String(repeating: "x", count: 100_000), in: &space.owner)
    #expect(space.owner.keptObjects.count == 1)
    let accepting = try space.owner.acceptingHistory(of: space.engine)
    #expect(!accepting.hints.isEmpty)
    var appended = space.owner
    try space.synchronise(&appended)
    appended.wantsPresence = true
    appended.awaitedRemovals = [try Space.identity(1).id]
    #expect(!appended.namedObjects.isEmpty)
    var held = space.owner
    held.pending[0].isHeld = true
    for replica in [space.owner, accepting, appended, held] {
      #expect(try replica.restored().properties() == replica.properties())
    }
    let name = try #require(space.owner.keptObjects.keys.first)
    let parts = try space.owner.parts()
    for object in [nil, [1]] as [[UInt8]?] {
      var rest = parts[...]
      #expect(throws: StoredReplicaError.objectMissing(name)) {
        _ = try Replica(
          restoring: space.owner.identity, space.owner.values, entry: { _, _ in nil }, object: { _ in object },
          nextPart: { rest.popFirst() })
      }
    }
  }

  @Test func refusedSettingsAreStored() throws {
    var space = try Space()
    for index in 0...SettingsQuota.maximumKeyCount {
      try space.owner.write(SettingContent(store: "store", key: "\(index)", value: [6]), at: 1)
    }
    try space.synchronise(&space.owner)
    #expect(space.owner.refused.count == 1)
    let restored = try space.owner.restored()
    #expect(try restored.properties() == space.owner.properties() && restored.refused.count == 1)
    #expect(restored.state.quota.used(by: "store").keys == SettingsQuota.maximumKeyCount)
  }

  /// Only one part is in locked memory at a time.
  @Test func partsAreShort() throws {
    var space = try Space()
    for index in 0..<40 { try Space.write("\(index)", String(repeating: "x", count: 60_000), in: &space.owner) }
    let counts = try space.owner.parts().map(\.count)
    #expect(counts.count > 5 && counts.allSatisfy { $0 <= 400 << 10 })
    #expect(try space.owner.restored().properties() == space.owner.properties())
  }

  @Test func entriesThatAreNotKeptAreForgottenWithThoseBeforeThem() throws {
    var space = try Space()
    for index in 0..<4 {
      try Space.write("\(index)", "x", in: &space.owner)
      try space.synchronise(&space.owner)
    }
    let entries = space.owner.keptEntries
    for (changed, kept) in [(UInt64(1), UInt64(2)...4), (0, 1...4)] {
      var rest = try space.owner.parts()[...]
      let restored = try Replica(
        restoring: space.owner.identity, space.owner.values,
        entry: { number, _ in entries[Int(number)].bytes + (number == changed ? [0] : []) }, object: { _ in nil },
        nextPart: { rest.popFirst() })
      #expect(restored.keptEntries.map(\.number) == Array(kept))
    }
  }

  @Test func theReplicaOfAnotherDeviceIsRefused() throws {
    let space = try Space()
    #expect(throws: StoredReplicaError.otherDevice) { _ = try space.owner.restored(as: Space.identity(1)) }
  }

  @Test func partsThatAreMissingRepeatedOrInAnotherOrderAreRefused() throws {
    var space = try Space()
    for index in 0..<40 { try Space.write("\(index)", String(repeating: "x", count: 60_000), in: &space.owner) }
    let parts = try space.owner.parts()
    var wrong = [[], Array(parts.dropFirst()), Array(parts.dropLast()), parts + [parts[0]], parts + [parts[parts.count - 1]]]
    wrong += parts.indices.dropFirst().map { index in parts.enumerated().filter { $0.offset != index }.map(\.element) }
    wrong.append([parts[1], parts[0]] + parts[2...])
    // A record behind the last one, and a record with a byte to spare.
    let last = parts[parts.count - 1].secret.copyIntoUnprotectedBytes()
    let linked: [UInt8] = [8, 0, 0, 0, StoredRecord.linked.rawValue] + [UInt8](repeating: 0, count: 8)
    for bytes in [last + linked, last.dropLast(13) + [9] + last.suffix(12) + [0]] {
      wrong.append(parts.dropLast() + [LockedBytes(try Secret(testing: bytes))])
    }
    for parts in wrong { #expect(throws: StoredReplicaError.malformed) { _ = try space.owner.restored(parts) } }
  }

  /// The parts are sealed, so another program cannot change them; a damaged one is an error and never a trap.
  @Test func changedBytesAreRefusedOrHarmless() throws {
    var space = try Space()
    _ = try space.join(1, .member)
    try Space.write("bob", "x", in: &space.owner)
    space.owner.setRole(try Space.identity(1).id, .owner)
    let bytes = try space.owner.parts()[0].secret.copyIntoUnprotectedBytes()
    #expect(try space.owner.parts().count == 1)
    var refused = 0
    for index in bytes.indices {
      for bit in [UInt8(1), 0x80] {
        var changed = bytes
        changed[index] ^= bit
        do {
          _ = try space.owner.restored([LockedBytes(Secret(testing: changed))])
        } catch is StoredReplicaError {
          refused += 1
        }
      }
      #expect(throws: StoredReplicaError.malformed) {
        _ = try space.owner.restored([LockedBytes(Secret(testing: Array(bytes.prefix(index))))])
      }
    }
    #expect(refused > 100)
  }
}
