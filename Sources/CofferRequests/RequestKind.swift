package import AccessRights

extension Request {
  /// Names a request without its content. The raw value is the number of its frame.
  package enum Kind: UInt16, CaseIterable, Sendable {
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
    case entry = 11
    case contains = 12
    case discard = 13
    case end = 14
    // 15, 30 and 31 are other frames of a client: see `FrameKind`.
    case history = 22
    case removed = 16
    case version = 17
    case restore = 18
    case purge = 19
    case watch = 20
    case purgeExpired = 21
    case addAll = 23

    // Requests to an agent that keeps the vault and the apps where their user cannot reach them
    case create = 32
    case inspect = 33
    case addSlot = 34
    case replaceSlot = 35
    case removeSlot = 36
    case pins = 40
    case install = 41
    case uninstall = 42
    case itemCount = 43
    case forget = 44
    case grants = 45
    case grant = 46
    case revoke = 47
    case leases = 48
    case endLease = 49
    case log = 50
    case logPart = 51
    case groups = 52
    case createGroup = 53
    case renameGroup = 54
    case removeGroup = 55
    case policy = 60
    case setPolicy = 61
    case verify = 62
    case backup = 63
    case acceptRollback = 64
    case restoreVault = 70
    case repair = 71
    case rotate = 72

    /// Its name in the audit log. A table, because to ask an enumeration for its name takes longer than to look up an item.
    package var name: String { Self.names[self] ?? "" }
    private static let names = Dictionary(uniqueKeysWithValues: allCases.map { ($0, "\($0)") })

    /// The operation of its entries in the audit log.
    package var loggedName: String { "agent." + name }

    package init?(loggedAs operation: String) {
      guard let kind = Self.allCases.first(where: { $0.loggedName == operation }) else { return nil }
      self = kind
    }
  }

  /// Everything that is decided by the kind of a request alone.
  package struct Traits: Sendable {
    package let effect: Effect
    package let access: Access
    package let audit: Audit
    package let answer: AnswerShape
    /// A body of more than `WireLimits.smallBodyByteCount` bytes takes locked memory from others. Any program may send small requests.
    package var isLarge = false
    /// The owner may be asked before it is done, so its answer may take minutes.
    package var asksOwner = false
    /// Root may send it too, though the vault is another user's. Root can read the vault's file anyway.
    package var isOpenToRoot = false
  }

  package enum Effect: Sendable {
    case reads
    /// Changes a state, and may be sent again without harm: a client without an answer is not in doubt.
    case repeatable
    case changes
  }

  /// The programs that may send it. `Gate` decides by this.
  package enum Access: Sendable {
    case everybody
    /// Everybody, but an agent of the system refuses it: its service manager does that.
    case everybodyOfUserAgent
    /// Everybody, at an agent of the system alone: a credential in the request is the proof.
    case credential
    /// The owner, and programs with rights, after the vault was unlocked once.
    case rights
    /// The same, and before the first unlock too.
    case rightsWhileLocked
    /// The owner and the command `coffer`, after the vault was unlocked once.
    case shown
    /// The same, at an agent of the system alone.
    case shownBySystem
    /// The owner, at an agent of the system alone.
    case owner
  }

  /// How an allowed request is written into the agent's audit log. Refusals are always written, except for `never`.
  package enum Audit: Sendable {
    /// Asked often, and shows nothing of items.
    case never
    /// The entry of another request covers it.
    case refusalsOnly
    /// With the refusals, and repetitions counted: any program may send it as often as it likes.
    case withRefusals
    case use
    /// Repetitions are counted in one entry.
    case countedUse
    /// Opens the vault, or changes rights: the entry is on the disk first.
    case decision
  }

  package enum AnswerShape: Sendable {
    case done, status, entitlements, entries, flag, secret, reference, rows, notices
  }
}

extension Request.Kind {
  package var traits: Request.Traits {
    switch self {
    case .status: .init(effect: .reads, access: .everybody, audit: .never, answer: .status)
    case .unlock: .init(effect: .repeatable, access: .everybody, audit: .decision, answer: .done)
    case .lock: .init(effect: .repeatable, access: .everybody, audit: .withRefusals, answer: .done)
    case .end: .init(effect: .changes, access: .everybodyOfUserAgent, audit: .withRefusals, answer: .done)
    case .inspect: .init(effect: .reads, access: .everybody, audit: .refusalsOnly, answer: .rows, isOpenToRoot: true)
    case .watch: .init(effect: .reads, access: .rightsWhileLocked, audit: .countedUse, answer: .notices)

    case .entitlements: .init(effect: .reads, access: .rights, audit: .countedUse, answer: .entitlements)
    case .items: .init(effect: .reads, access: .rights, audit: .countedUse, answer: .entries, isLarge: true)
    case .contains: .init(effect: .reads, access: .rights, audit: .countedUse, answer: .flag)
    case .entry: .init(effect: .reads, access: .rights, audit: .countedUse, answer: .entries)
    case .history: .init(effect: .reads, access: .rights, audit: .countedUse, answer: .rows)
    case .removed: .init(effect: .reads, access: .rights, audit: .countedUse, answer: .rows, isLarge: true)
    case .secret, .version:
      .init(effect: .reads, access: .rights, audit: .countedUse, answer: .secret, isLarge: true, asksOwner: true)
    case .add, .addAll, .update, .move, .restore:
      .init(effect: .changes, access: .rights, audit: .use, answer: .reference, isLarge: true, asksOwner: true)
    case .remove: .init(effect: .changes, access: .rights, audit: .use, answer: .flag, asksOwner: true)
    case .discard: .init(effect: .changes, access: .rights, audit: .use, answer: .flag, isLarge: true, asksOwner: true)
    case .purge: .init(effect: .changes, access: .rights, audit: .use, answer: .rows, asksOwner: true)
    case .purgeExpired: .init(effect: .changes, access: .rights, audit: .use, answer: .rows)

    case .create, .addSlot, .replaceSlot, .removeSlot:
      .init(effect: .changes, access: .credential, audit: .decision, answer: .done)

    case .pins, .grants, .leases, .groups: .init(effect: .reads, access: .shown, audit: .countedUse, answer: .rows)
    case .endLease: .init(effect: .changes, access: .shown, audit: .decision, answer: .done)
    case .install: .init(effect: .changes, access: .owner, audit: .decision, answer: .done, isLarge: true)
    case .uninstall, .grant, .revoke, .createGroup, .renameGroup, .removeGroup:
      .init(effect: .changes, access: .owner, audit: .decision, answer: .done)
    case .itemCount: .init(effect: .reads, access: .owner, audit: .countedUse, answer: .rows)
    case .forget: .init(effect: .changes, access: .owner, audit: .decision, answer: .rows)
    case .log: .init(effect: .reads, access: .shownBySystem, audit: .countedUse, answer: .rows)
    case .logPart: .init(effect: .reads, access: .shownBySystem, audit: .refusalsOnly, answer: .rows)
    case .policy, .verify: .init(effect: .reads, access: .credential, audit: .use, answer: .rows)
    case .backup: .init(effect: .repeatable, access: .credential, audit: .decision, answer: .rows, isOpenToRoot: true)
    case .acceptRollback: .init(effect: .repeatable, access: .credential, audit: .decision, answer: .rows)
    case .restoreVault:
      .init(effect: .changes, access: .credential, audit: .decision, answer: .rows, isOpenToRoot: true)
    case .repair, .rotate: .init(effect: .changes, access: .credential, audit: .decision, answer: .rows)
    case .setPolicy: .init(effect: .changes, access: .credential, audit: .decision, answer: .rows)
    }
  }

  /// The rights to a group that it needs: none if any right is enough. nil if it does not concern groups.
  package var rights: Entitlements.Rights? {
    switch self {
    case .secret, .version, .history: .read
    case .removed: [.list, .read]
    case .items, .contains, .entry: .list
    case .add, .addAll, .update, .remove, .discard, .restore, .purge, .purgeExpired: .write
    case .move: [.read, .write]
    case .entitlements, .watch: []
    case .status, .unlock, .lock, .end, .create, .inspect, .addSlot, .replaceSlot, .removeSlot, .pins, .install, .uninstall,
      .itemCount, .forget, .grants, .grant, .revoke, .leases, .endLease, .log, .logPart, .groups, .createGroup, .renameGroup,
      .removeGroup, .policy, .setPolicy, .verify, .backup, .acceptRollback, .restoreVault, .repair, .rotate:
      nil
    }
  }

  /// How long an answer may take, in milliseconds. A client that waits longer waits for an agent that has stopped.
  package var answerMilliseconds: Int32 {
    // Four questions at most, each a minute after a minute of others; else longer than the agent waits for another process.
    traits.asksOwner ? 540_000 : 60_000
  }
}
