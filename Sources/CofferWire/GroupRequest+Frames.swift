internal import CofferRequests
internal import VaultCore

extension GroupRequest {
  func message() -> Message {
    var fields = Attributes()
    fields["group"] = group.map { .text($0.name) }
    switch self {
    case .list, .create: break
    case .rename(_, let new): fields["to-group"] = .text(new.name)
    case .remove(_, let newest): fields["with-items"] = newest.map { .integer($0) }
    }
    return Message(fields: fields)
  }

  /// - Throws: `WireError`: `field`; `operation` for a request that is not about groups.
  static func parse(_ kind: Request.Kind, _ fields: inout Fields) throws(WireError) -> GroupRequest {
    switch kind {
    case .groups: return .list
    case .createGroup: return .create(try fields.requiredGroup("group"))
    case .renameGroup: return .rename(try fields.requiredGroup("group"), to: try fields.requiredGroup("to-group"))
    case .removeGroup: return .remove(try fields.requiredGroup("group"), withItemsAsOf: try fields.integer("with-items"))
    default: throw WireError(.operation, "\(kind) is not about groups")
    }
  }
}
