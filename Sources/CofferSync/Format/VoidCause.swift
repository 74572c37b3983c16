/// The cause for which an entry changes nothing. Section 3.1 of docs/sync-format.md, in the order in which they are checked.
package enum VoidCause: String, Error, CaseIterable, Sendable {
  case length, magic, space, number, chain, epoch, seal, author, signature, form, clear, link, right, record, target, key, tag
}

/// The cause for which the fold stops before an entry.
package enum Halt: Error, Equatable, Sendable {
  /// A member has continued another history. Nothing is read or appended until the history of the engine is accepted.
  case forked
  /// The engine has other entries than those that were read.
  case replaced
  /// A checkpoint has another state than this device.
  case checkpointFalse
  /// The member that has added this device has not sealed the right key for it.
  case keyWithheld
  /// No key for the epoch: the device was not a member when it began, and has no later key that leads to it.
  case keyMissing
  /// This device was removed.
  case removed
  /// The history has not added this device.
  case notAMember
  /// The engine lacks an object that an entry names.
  case objectMissing(ObjectName)
  /// The engine ends before all entries that this device has kept, or lacks some that others need.
  case entriesMissing
}
