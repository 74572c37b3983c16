/// The purpose of a derived key or digest. Each label has one layout of the bytes that follow it, so no two uses collide.
package enum Label: String {
  case header = "hdr"
  case tree = "records"
  // Nothing that it proves is proven under the one above.
  case draftTree = "tree"
  case systemGroup = "sysgroup"
  case slots = "slots"
  case headerMAC = "hdr-mac"
  case slotKEK = "slot-kek"
  case slotCommitment = "slot-commit"
  case device = "device"
  case groupID = "group-id"
  case itemID = "item-id"
  case historyID = "history-id"
  case policyID = "policy-id"
  case pinID = "pin-id"
  case grantID = "grant-id"
  case record = "rec"
  case nonce = "nonce"
  case leaf = "leaf"
  case node = "node"
  case anchor = "anchor"
  case manifest = "manifest"
}

/// The message of a KDF call: `"coffer/v1/" label 00 context`. Integers are little-endian. Section 1.1 of FORMAT.md.
package struct Context {
  package private(set) var bytes: [UInt8]

  package init(_ label: Label, reserving capacity: Int = 160) { self.init(label.rawValue, reserving: capacity) }

  /// For the labels of other modules, which begin with a word of their own.
  package init(_ label: String, reserving capacity: Int = 160) {
    bytes = []
    bytes.reserveCapacity(capacity + 32)
    bytes.append(contentsOf: "coffer/v1/".utf8)
    bytes.append(contentsOf: label.utf8)
    bytes.append(0)
  }

  package mutating func append(_ identifier: Identifier) { bytes.append(identifier) }

  package mutating func append(_ value: some Collection<UInt8>) { bytes.append(contentsOf: value) }

  package mutating func append(_ value: some FixedWidthInteger) { bytes.append(littleEndian: value) }

  /// A u32 length, then the bytes.
  package mutating func appendCounted(_ value: [UInt8]) {
    bytes.append(littleEndian: UInt32(value.count))
    bytes.append(contentsOf: value)
  }
}
