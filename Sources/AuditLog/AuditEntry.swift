/// One decision: when, who, what, how it was decided and why. Never a value, never anything of an item's secret.
package struct AuditEntry: Equatable, Sendable {
  /// The longest text of a field. A path has at most as much, and names in the vault have less.
  package static let maximumFieldByteCount = 4096

  package enum Decision: String, Sendable {
    /// Written before it is done.
    case allowed
    case refused
    /// It was allowed, and could not be done.
    case failed
    /// A word of the log about itself.
    case noted
  }

  /// Who asked, as far as it is known.
  package struct Caller: Equatable, Sendable {
    package var user: UInt32
    package var process: Int32
    package var executable: String
    /// `TEAM.identifier`, where it was proven. Empty otherwise: what a program says of itself stands nowhere.
    package var application: String

    package init(user: UInt32, process: Int32, executable: String, application: String = "") {
      self.user = user
      self.process = process
      self.executable = executable
      self.application = application
    }
  }

  /// Since 1970, as the clock of the machine said.
  package var milliseconds: Int64
  package var decision: Decision
  /// What was asked for: `app.install`. Each module names its own.
  package var operation: String
  package var caller: Caller
  /// With what it was to be done. Empty where there is none, or where it is not known.
  package var application: String
  package var group: String
  /// The id of the item's record in hexadecimal digits: a keyed hash of what makes the item unique, so the log shows no name. Empty if it
  /// concerns no single item.
  package var item: String
  /// The rule: the name of an error, or of what allows it.
  package var reason: String

  package init(
    at milliseconds: Int64, _ decision: Decision, _ operation: String, by caller: Caller, application: String = "",
    group: String = "", item: String = "", because reason: String
  ) {
    self.milliseconds = milliseconds
    self.decision = decision
    self.operation = operation
    self.caller = caller
    self.application = application
    self.group = group
    self.item = item
    self.reason = reason
  }
}

extension AuditEntry {
  /// With texts that have room: a program chooses its own path, and a long one is not to keep its refusal out of the log.
  package var shortened: AuditEntry {
    func short(_ text: String) -> String {
      guard text.utf8.count > Self.maximumFieldByteCount else { return text }
      // A character that is cut becomes a replacement mark of three bytes.
      return String(decoding: text.utf8.prefix(Self.maximumFieldByteCount - 3), as: UTF8.self)
    }
    var entry = self
    entry.caller.executable = short(caller.executable)
    entry.reason = short(reason)
    return entry
  }
}

/// An entry in its place.
package struct LoggedEntry: Equatable, Sendable {
  /// Counted from 1, over all files.
  package let number: UInt64
  package let entry: AuditEntry
  /// Of this entry and, through the digest of the one before, of all before it.
  package let digest: [UInt8]
}
