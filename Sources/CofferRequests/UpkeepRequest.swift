package import CofferLifecycle
package import VaultCore

/// A request for work on the whole vault, for an agent that keeps the file where its user cannot read it. The agent does it on the thread of
/// the connection, which carries notices of progress and questions until the answer. The work ends with the connection, after the
/// transaction at hand.
///
/// Each carries a credential of the owner, derived by the client: the agent opens the vault with it for this work alone. If it is optional,
/// root alone may leave it out.
package enum UpkeepRequest: ~Copyable, Sendable {
  case policy(by: Credential)
  /// Sets the limits that are named.
  case setPolicy([Limits.Name: UInt64], by: Credential)
  case verify(by: Credential)
  /// Accepts the present state as the newest one, after the client has agreed to it.
  case acceptRollback(by: Credential)
  /// A copy of the vault, in the agent's directory of backups.
  /// - isHandedOn: The copy is offered to the client instead, and the agent keeps none.
  /// - isVerified: Everything in the copy is proven, which takes a credential.
  case backup(isHandedOn: Bool, isVerified: Bool, by: Credential?)
  /// Puts a backup in the place of the vault, with `UpkeepQuestion.opening` and `agreement`.
  /// - hasFile: The client hands the backup on. If not, the newest one in the agent's directory is taken.
  /// - isTrial: Nothing is changed, and the last question is not asked.
  case restore(hasFile: Bool, isTrial: Bool, by: Credential?)
  /// Keeps what is sound of a damaged vault, with `UpkeepQuestion.shown` and `agreement`.
  /// - hasFile: The client hands a backup on, from which lost records are taken.
  case repair(hasFile: Bool, acceptsUnproven: Bool, isTrial: Bool, by: Credential)
  /// Makes new keys, with `UpkeepQuestion.agreement`, then `credential` for each slot, then `shown` when the backup is there and recovery
  /// keys are to be written down.
  case rotate(RotationOrder, by: Credential)

  package var kind: Request.Kind {
    borrowing get {
      switch self {
      case .policy: .policy
      case .setPolicy: .setPolicy
      case .verify: .verify
      case .acceptRollback: .acceptRollback
      case .backup: .backup
      case .restore: .restoreVault
      case .repair: .repair
      case .rotate: .rotate
      }
    }
  }

  /// For the audit log.
  package var note: String {
    borrowing get {
      switch self {
      case .setPolicy(let limits, by: _):
        limits.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.rawValue)=\($0.value)" }.joined(separator: " ")
      case .backup(let isHandedOn, isVerified: _, by: _): isHandedOn ? "to a file" : ""
      case .acceptRollback: ""
      case .restore(let hasFile, let isTrial, by: _): (hasFile ? "from a file" : "from a backup") + (isTrial ? ", trial" : "")
      case .repair(_, _, let isTrial, by: _): isTrial ? "trial" : ""
      case .rotate(let order, by: _): order.note
      case .policy: ""
      case .verify: ""
      }
    }
  }
}

extension RotationOrder {
  /// For the audit log.
  fileprivate var note: String {
    let groups = groups.map { "groups " + $0.map(\.name).sorted().joined(separator: ", ") }
    let kinds = [isMasterOnly ? "master key only" : nil, renewsDevice ? "device key" : nil, isLeaked ? "leaked" : nil]
    return ([groups] + kinds).compactMap(\.self).joined(separator: "; ")
  }
}

/// How far work on a whole vault has come.
package struct UpkeepProgress: Equatable, Sendable {
  /// A part of the work, for people, such as `checking`.
  package let part: String
  /// Records, or bytes.
  package let done: UInt64
  package let total: UInt64

  package init(_ part: String, _ done: UInt64, of total: UInt64) { (self.part, self.done, self.total) = (part, done, total) }
}

/// A question of the agent to the client that has asked for upkeep.
package struct UpkeepQuestion: Equatable, Sendable {
  package enum Kind: UInt8, Sendable {
    /// The client hands on the descriptor of its file: `UpkeepReply.file`.
    case file = 1
    /// The agent has a file to hand on, which `UpkeepReply.yes` takes.
    case offer = 2
    /// The rows tell what is going to be done. Yes, or no.
    case agreement = 3
    /// The rows describe a slot; credentials for it are the reply. It is asked again if the present one does not open it.
    case credential = 4
    /// The rows are shown to the person. Yes: it was done.
    case shown = 5
    /// The rows describe a backup and its slots, as `Request.Kind.inspect` does; a new credential that opens one of them is the reply. It is
    /// asked again if that one opens none.
    case opening = 6
  }

  package let kind: Kind
  package let rows: [Attributes]

  package init(_ kind: Kind, _ rows: [Attributes] = []) { (self.kind, self.rows) = (kind, rows) }
}

/// The client's reply. A client that has none ends the connection.
package enum UpkeepReply: ~Copyable, Sendable {
  case yes
  case no
  /// One that opens what the question is about, if it is asked for, and one for a new slot.
  case credentials(present: Credential?, new: Credential)
  /// The number of a descriptor, which stays open here.
  case file(Int32)
}
