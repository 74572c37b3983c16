package import AccessRights
package import VaultCore

/// The owner's agreement, for a time, to a program's request.
package struct OpenLease: Equatable, Sendable {
  /// Counted from 1 while the agent runs.
  package let number: UInt64
  /// As a grant names the program: an app, `coffer` or a program that is neither.
  package let program: String
  package let group: AccessGroup
  /// Nil: all of the group.
  package let item: Identifier?
  package let rights: Entitlements.Rights
  /// How long it holds.
  package let seconds: UInt64

  package init(
    number: UInt64, program: String, group: AccessGroup, item: Identifier?, rights: Entitlements.Rights, seconds: UInt64
  ) {
    (self.number, self.program, self.group, self.item) = (number, program, group, item)
    (self.rights, self.seconds) = (rights, seconds)
  }

  package var wireRow: Attributes {
    var row = Attributes()
    row["lease"] = .integer(number)
    row["program"] = .text(program)
    row["group"] = .text(group.name)
    row["item"] = item.map { .data($0.bytes) }
    row["rights"] = .integer(UInt64(rights.rawValue))
    row["seconds"] = .integer(seconds)
    return row
  }

  /// - Throws: `field`.
  package init(wireRow: Attributes) throws(WireError) {
    var fields = Fields(wireRow)
    number = try fields.requiredInteger("lease")
    program = try fields.requiredText("program")
    group = try fields.requiredGroup("group")
    item = try fields.identifier("item")
    rights = try fields.rights("rights")
    seconds = try fields.requiredInteger("seconds")
    try fields.end()
  }
}
