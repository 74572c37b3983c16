import PublicKeyBoxes
package import VaultCore

/// The rights of a device in a space. Section 4 of docs/sync-format.md.
package enum Role: UInt8, CaseIterable, Comparable, Sendable {
  case owner = 1
  case member, reader

  /// A role with fewer rights is greater.
  package static func < (left: Role, right: Role) -> Bool { left.rawValue < right.rawValue }
}

/// A device, as the log describes it. Section 2 of docs/sync-format.md.
package struct DeviceRecord: Equatable, Sendable {
  package static let maximumNameByteCount = 255

  package let signingKey: [UInt8]
  package let boxKey: [UInt8]
  package internal(set) var role: Role
  package let isRecovery: Bool
  package let person: String
  package let name: String
  package let id: Identifier

  package init(signingKey: [UInt8], boxKey: [UInt8], role: Role, isRecovery: Bool = false, person: String, name: String) {
    (self.signingKey, self.boxKey, self.role, self.isRecovery) = (signingKey, boxKey, role, isRecovery)
    (self.person, self.name) = (person, name)
    id = Self.identifier(signingKey: signingKey, boxKey: boxKey)
  }

  /// The beginning of the identifier, which is enough for commands.
  package var shortIdentifier: String { String(id.description.prefix(16)) }

  private static func identifier(signingKey: [UInt8], boxKey: [UInt8]) -> Identifier {
    var context = Context("sync-device")
    context.append(signingKey)
    context.append(boxKey)
    return context.tag
  }

  func write(to writer: inout BodyWriter) {
    writer.append(id)
    writer.append(signingKey)
    writer.append(boxKey)
    writer.append(role.rawValue)
    writer.append(UInt8(isRecovery ? 1 : 0))
    writer.append(text: person)
    writer.append(text: name)
  }

  init(reading reader: inout BodyReader) throws {
    let id = try reader.readIdentifier()
    let (signingKey, boxKey) = (try reader.read(Ed25519.publicKeyByteCount), try reader.read(PublicKeyBox.publicKeyByteCount))
    guard let role = Role(rawValue: try reader.readInteger()) else { throw VoidCause.form }
    let isRecovery = try reader.readByte(in: 0...1) == 1
    let person = try reader.readName(atMost: Self.maximumNameByteCount)
    let name = try reader.readName(atMost: Self.maximumNameByteCount)
    self.init(signingKey: signingKey, boxKey: boxKey, role: role, isRecovery: isRecovery, person: person, name: name)
    guard id == self.id else { throw VoidCause.form }
  }

  /// A record that another device has written. One cannot seal for a key of small order: the record would stop each removal.
  init(fromEntry reader: inout BodyReader) throws {
    try self.init(reading: &reader)
    guard PublicKeyBox.isUsable(boxKey) else { throw VoidCause.form }
  }

  /// The identifier of a space that this device founds.
  package func space(random: [UInt8]) -> Identifier {
    var context = Context("sync-space")
    context.append(signingKey)
    context.append(boxKey)
    context.append(random)
    return context.tag
  }
}
