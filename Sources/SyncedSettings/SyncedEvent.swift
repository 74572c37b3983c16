package import CofferPropertyLists

/// The reason why another device's changes came, with the numbers of Apple's constants.
package enum SyncedReason: Int64, Sendable {
  /// Another device has written.
  case serverChange = 0
  /// The store has met the log for the first time.
  case initialSync = 1
  /// The log has refused values of this device, because the store would be too large.
  case quotaViolation = 2
  /// The person's space is another one now.
  case accountChange = 3

  private static let byWeight: [SyncedReason] = [.accountChange, .initialSync, .serverChange, .quotaViolation]

  /// The one reason that is told for several, of which all or none are `quotaViolation`; nil if there is none.
  /// - Parameter reasons: The reasons of several events.
  package static func weightiest(of reasons: [SyncedReason]) -> SyncedReason? { byWeight.first { reasons.contains($0) } }
}

/// Changes that came at one moment.
package struct SyncedEvent: Sendable, Equatable {
  /// Grows with each event of a store.
  package let sequence: Int64
  /// The reason why the changes came.
  package let reason: SyncedReason
  /// For each key the hash of its value before: empty if there was none.
  package let keys: PropertyListDictionary

  init(sequence: Int64, reason: SyncedReason, keys: PropertyListDictionary) {
    self.sequence = sequence
    self.reason = reason
    self.keys = keys
  }

  /// Whether values of this device were refused. Such an event is never merged with another one: a program has to learn of it.
  package var isRefusal: Bool { reason == .quotaViolation }

  /// Both events as one, with the number of the later one, the weightier reason, and for each key the value before the earlier one.
  func merged(with later: SyncedEvent) -> SyncedEvent {
    var keys = later.keys
    for (key, former) in self.keys.entries { keys[key] = former }
    let reason = SyncedReason.weightiest(of: [self.reason, later.reason]) ?? later.reason
    return SyncedEvent(sequence: later.sequence, reason: reason, keys: keys)
  }

  /// With those of the keys for which the condition holds.
  func keeping(_ isKept: (String) -> Bool) -> SyncedEvent {
    var kept = PropertyListDictionary()
    for (key, former) in keys.entries where isKept(key.name) { kept[key] = former }
    return SyncedEvent(sequence: sequence, reason: reason, keys: kept)
  }

  /// About the number of bytes in a journal. Counted, because encoding 256 events for each new one would take long.
  var byteCount: Int { keys.unsorted.reduce(0) { $0 + $1.key.utf8.count + $1.value.bytes.count + 9 } }

  // MARK: In the domain `ID.sync`

  private static let reasonName = "reason"
  private static let keysName = "keys"

  var value: PropertyListValue {
    var fields = PropertyListDictionary()
    fields[Self.reasonName] = .integer(reason.rawValue)
    fields[Self.keysName] = .dictionary(keys)
    return .dictionary(fields)
  }

  /// The next number must exist, whatever an app has written.
  static let sequences = 0..<Int64.max / 2

  /// Returns nil if it is not an event.
  init?(_ key: String, _ value: PropertyListValue) {
    guard let text = StateKey.event.name(in: key), let sequence = Int64(text),
      Self.sequences.contains(sequence), case .dictionary(let fields) = value,
      case .integer(let number)? = fields[Self.reasonName], let reason = SyncedReason(rawValue: number),
      case .dictionary(let keys)? = fields[Self.keysName]
    else { return nil }
    self.init(sequence: sequence, reason: reason, keys: keys)
  }
}
