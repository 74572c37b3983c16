import SecretMemory
import VaultCore

@testable import CofferSync

extension Replica {
  func parts() throws -> [LockedBytes] {
    var parts: [LockedBytes] = []
    try store { parts.append($0) }
    return parts
  }

  /// As the next process reads it.
  func restored(_ parts: [LockedBytes]? = nil, as device: DeviceIdentity? = nil) throws -> Replica {
    let entries = Dictionary(uniqueKeysWithValues: keptEntries.map { ($0.number, $0.bytes) })
    var rest = (try parts ?? self.parts())[...]
    return try Replica(
      restoring: device ?? identity, values, entry: { number, _ in entries[number] }, object: { keptObjects[$0] },
      nextPart: { rest.popFirst() })
  }
}
