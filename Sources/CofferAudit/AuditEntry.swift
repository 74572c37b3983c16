/// One decision: the time, the caller, the operation, the decision and its reason. Never contains a value or any part of a
/// secret.
package struct AuditEntry: Equatable, Sendable {
  /// The maximum length of a field, in bytes. This is also the maximum length of a path; names in the vault are shorter.
  package static let maximumFieldByteCount = 4096

  package enum Decision: String, Sendable {
    /// Written before the operation is performed.
    case allowed
    case refused
    /// The operation was allowed, but failed.
    case failed
    /// A note of the log about itself.
    case noted
  }

  /// The caller, as far as it was identified.
  package struct Caller: Equatable, Sendable {
    package var user: UInt32
    package var process: Int32
    package var executable: String
    /// `TEAM.identifier` if it was verified, otherwise empty: names that a program claims are not logged.
    package var application: String

    package init(user: UInt32, process: Int32, executable: String, application: String = "") {
      self.user = user
      self.process = process
      self.executable = executable
      self.application = application
    }
  }

  /// Milliseconds since 1970, by the clock of the machine.
  package var milliseconds: Int64
  package var decision: Decision
  /// The requested operation, for example `app.install`. Each module names its own.
  package var operation: String
  package var caller: Caller
  /// The app that the operation concerns. Empty if there is none, or if it is unknown.
  package var application: String
  package var group: String
  /// The id of the item's record in hexadecimal digits: a keyed hash of the item's unique attributes, so that the log contains no
  /// name. Empty if the operation does not concern a single item.
  package var item: String
  /// The rule: the name of an error, or of the right that allows the operation.
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
  /// The entry with its texts truncated: a program chooses its own path, and a long path must not prevent its refusal from being
  /// logged.
  package var shortened: AuditEntry {
    func short(_ text: String) -> String {
      guard text.utf8.count > Self.maximumFieldByteCount else { return text }
      // Truncating a character makes it a replacement character of three bytes.
      return String(decoding: text.utf8.prefix(Self.maximumFieldByteCount - 3), as: UTF8.self)
    }
    var entry = self
    entry.caller.executable = short(caller.executable)
    entry.reason = short(reason)
    return entry
  }
}

/// An entry with its position in the log.
package struct LoggedEntry: Equatable, Sendable {
  /// Counted from 1, over all files.
  package let number: UInt64
  package let entry: AuditEntry
  /// The digest of this entry and, through the digest of the preceding one, of all entries before it.
  package let digest: [UInt8]
}
