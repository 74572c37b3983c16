package import VaultCore

/// What the owner asks about apps. Their executables lie with the user; what the vault and the agent keep of them is asked for here.
package enum AppCall: Equatable, Sendable {
  /// All apps that the vault knows.
  case pins
  /// The bytes of a signed manifest.
  case install([UInt8])
  case uninstall(String)
  case itemCount(String)
  case forget(String)
  /// To an app, or to a program that is none. Nil: all.
  case grants(String?)
  /// The moment is the agent's to say.
  case grant(String, AccessGroup, Entitlements.Rights, asksForConfirmation: Bool)
  case revoke(String, AccessGroup)
  case leases
  /// By its number.
  case endLease(UInt64)
  case log
  /// - first: The number of the first entry of the file.
  case logPart(ring: String, first: UInt64, offset: UInt64)

  package var operation: Operation {
    switch self {
    case .pins: .pins
    case .install: .install
    case .uninstall: .uninstall
    case .itemCount: .itemCount
    case .forget: .forget
    case .grants: .grants
    case .grant: .grant
    case .revoke: .revoke
    case .leases: .leases
    case .endLease: .endLease
    case .log: .log
    case .logPart: .logPart
    }
  }

  // MARK: Out

  var message: Message {
    var fields = Attributes()
    switch self {
    case .pins, .leases, .log: break
    case .logPart(let ring, let first, let offset):
      fields["ring"] = .text(ring)
      fields["first"] = .integer(first)
      fields["offset"] = .integer(offset)
    case .endLease(let number): fields["lease"] = .integer(number)
    case .install(let manifest): return Message(parts: [manifest])
    case .uninstall(let application), .itemCount(let application), .forget(let application):
      fields["application"] = .text(application)
    case .grants(let application): fields["application"] = application.map { .text($0) }
    case .grant(let application, let group, let rights, let asksForConfirmation):
      fields["application"] = .text(application)
      fields["group"] = .text(group.name)
      fields["rights"] = .integer(UInt64(rights.rawValue))
      fields["confirm"] = .integer(asksForConfirmation ? 1 : 0)
    case .revoke(let application, let group):
      fields["application"] = .text(application)
      fields["group"] = .text(group.name)
    }
    return Message(fields: fields)
  }

  // MARK: In

  /// - Throws: `field`, `operation`.
  static func parse(_ operation: Operation, _ fields: inout Fields, _ part: [UInt8]) throws(WireError) -> AppCall {
    switch operation {
    case .pins: return .pins
    case .install: return .install(part)
    case .grants: return .grants(try fields.text("application"))
    case .leases: return .leases
    case .log: return .log
    case .logPart:
      return .logPart(
        ring: try Fields.required("ring", try fields.text("ring")),
        first: try Fields.required("first", try fields.integer("first")),
        offset: try Fields.required("offset", try fields.integer("offset")))
    case .endLease: return .endLease(try Fields.required("lease", try fields.integer("lease")))
    default: break
    }
    let application = try Fields.required("application", try fields.text("application"))
    switch operation {
    case .uninstall: return .uninstall(application)
    case .itemCount: return .itemCount(application)
    case .forget: return .forget(application)
    case .grant:
      let group = try Fields.required("group", try fields.group("group"))
      let rights = try Fields.required("rights", try fields.integer("rights"))
      guard let raw = UInt8(exactly: rights), Entitlements.Rights.all.isSuperset(of: .init(rawValue: raw)) else {
        throw WireError(.field, "rights")
      }
      return .grant(application, group, .init(rawValue: raw), asksForConfirmation: try fields.flag("confirm"))
    case .revoke: return .revoke(application, try Fields.required("group", try fields.group("group")))
    default: throw WireError(.operation, "\(operation) does not concern apps")
    }
  }
}
