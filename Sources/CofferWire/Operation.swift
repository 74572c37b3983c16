/// What a frame is. No operation returns a key, and none says who is asking: that the agent finds out by itself.
package enum Operation: UInt16, CaseIterable, Sendable {
  // Requests
  case status = 1
  case unlock = 2
  case lock = 3
  case entitlements = 4
  case items = 5
  case secret = 6
  case add = 7
  case update = 8
  case move = 9
  case remove = 10
  /// One item by its reference.
  case entry = 11
  /// Whether there is a group.
  case contains = 12
  /// What cannot be read, by what makes it unique.
  case discard = 13
  /// The agent is to end.
  case end = 14
  /// Returns the number of a challenge.
  case introduce = 15
  /// From here on the connection only hears what happens.
  case watch = 20

  // Requests to an agent that keeps the vault and the apps where their user cannot reach them
  /// Makes the vault.
  case create = 32
  /// What the vault's file says of itself.
  case inspect = 33
  /// A further way into the vault.
  case addSlot = 34
  /// Another way in the place of one.
  case replaceSlot = 35
  case removeSlot = 36
  case pins = 40
  case install = 41
  case uninstall = 42
  /// How many items would go if an app were forgotten.
  case itemCount = 43
  case forget = 44
  case grants = 45
  case grant = 46
  case revoke = 47
  /// What the owner has agreed to for a while.
  case leases = 48
  case endLease = 49
  /// The outline of the agent's audit log.
  case log = 50
  /// Bytes of one of its files.
  case logPart = 51

  // Answers
  case done = 128
  /// Part of an answer; others follow.
  case part = 129
  case failed = 130
  /// What has happened; others follow until one side closes.
  case notices = 131
  /// A number to be returned before the request is sent again. See `Challenge`.
  case challenge = 132

  /// As it is called in the audit log. Made once: to ask an enumeration for its name takes longer than to look up an item.
  package var name: String { Self.names[self] ?? "" }
  private static let names = Dictionary(uniqueKeysWithValues: allCases.map { ($0, "\($0)") })

  /// How long an answer may take, in milliseconds. A client that waits longer waits for an agent that has stopped.
  package var answerMilliseconds: Int32 {
    switch self {
    case .secret, .add, .update, .move, .remove, .discard: WireLimits.askingMilliseconds
    default: WireLimits.answerMilliseconds
    }
  }

  /// The largest body, in bytes. Requests that any program may send are small: a program without rights keeps no place for a large frame.
  package var maximumBodyByteCount: Int {
    switch self {
    case .items, .secret, .add, .update, .move, .discard, .install: WireLimits.frameByteCount - FrameHeader.byteCount
    default: isRequest ? WireLimits.smallBodyByteCount : WireLimits.frameByteCount - FrameHeader.byteCount
    }
  }

  package var isRequest: Bool { rawValue < Self.done.rawValue }
}
