import AccessRights
import CofferFiles
import CofferRequests
import CofferStorage
import CofferTesting
import Glibc
import SecretMemory
import Testing
import VaultCore

@testable import CofferWire

/// A frame as it was sent, taken apart again.
struct Received: ~Copyable {
  let header: FrameHeader
  var message: Message

  init(_ frame: borrowing Secret) throws {
    let bytes = frame.copyIntoUnprotectedBytes()
    let header = try unsafe FrameHeader(parsing: Array(bytes.prefix(FrameHeader.byteCount)).span.bytes)
    #expect(header.bodyByteCount == bytes.count - FrameHeader.byteCount)
    let body = Array(bytes.dropFirst(FrameHeader.byteCount))
    let message = try unsafe Message(parsing: Secret(copying: body.span.bytes))
    self.header = header
    self.message = message
  }

  consuming func request() throws -> Request {
    guard case .request(let kind) = header.kind else { throw WireError(.operation) }
    return try Request.parse(kind, message)
  }
}

@Suite struct WireTests {
  let item: Item = {
    var item = Item(service: "mail", account: "ada")
    item.label = "L"
    item.attributes["user.data"] = .data([0, 1, 2])
    return item
  }()

  var reference: Reference {
    get throws { Reference(group: try AccessGroup("team.shared"), id: try #require(Identifier(Array(1...16)))) }
  }

  static func text(_ secret: borrowing Secret) -> String { String(decoding: secret.copyIntoUnprotectedBytes(), as: UTF8.self) }

  private func sent(_ request: consuming ItemRequest) throws -> ItemRequest {
    guard case .items(let found) = try Received(Request.items(request).frame(request: 7)).request() else {
      throw WireError(.operation)
    }
    return found
  }

  private func sent(_ request: consuming SessionRequest) throws -> SessionRequest {
    guard case .session(let found) = try Received(Request.session(request).frame(request: 7)).request() else {
      throw WireError(.operation)
    }
    return found
  }

  @Test func callsArriveAsTheyWereSent() throws {
    switch try sent(.add(item, Secret(testing: "s3cret"), .standard, .afterFirstUnlock, installBound: true)) {
    case .add(let item, let secret, let group, let accessible, let installBound):
      #expect(item == self.item && group == .standard && accessible == .afterFirstUnlock && installBound)
      #expect(Self.text(secret) == "s3cret")
    default: Issue.record("another call")
    }
    switch try sent(.add(item, Secret(testing: ""), nil, .whenUnlocked, installBound: false)) {
    case .add(_, let secret, let group, _, let installBound): #expect(secret.count == 0 && group == nil && !installBound)
    default: Issue.record("another call")
    }
    switch try sent(.update(reference, generation: 1, item, nil, .whenPasscodeSetThisDevice)) {
    case .update(_, generation: _, _, nil, let accessible): #expect(accessible == .whenPasscodeSetThisDevice)
    default: Issue.record("another call")
    }
    for text in [nil, "", "new"] {
      let secret = try text.map { try Secret(testing: $0) }
      switch try sent(.update(reference, generation: .max, item, secret, nil)) {
      case .update(let reference, let generation, let item, let secret, nil):
        #expect(try reference == self.reference && generation == .max && item == self.item)
        var found: String?
        if case .some(let secret) = secret { found = Self.text(secret) }
        #expect(found == text)
      default: Issue.record("another call")
      }
    }
    var display = Attributes()
    for name in ["display", "wayland", "terminal", "terminal-type", "lc-ctype"] { display[name] = .text("a \(name)") }
    let salt = [UInt8](repeating: 7, count: 16)
    let key = String(repeating: "k", count: 32)
    switch try sent(SessionRequest.unlock(.derived(Secret(testing: key), .passphraseAndKeyFile, salt: salt), display: display)) {
    case .unlock(let credential, let found):
      #expect(credential.slotType == .passphraseAndKeyFile && credential.salt == salt && found == display)
      #expect(Self.text(credential.text) == key)
    default: Issue.record("another call")
    }
    var attributes = Attributes()
    attributes["service"] = .text("mail")
    switch try sent(.items(.note, .standard, attributes)) {
    case .items(let itemClass, let group, let found): #expect(itemClass == .note && group == .standard && found == attributes)
    default: Issue.record("another call")
    }
    switch try sent(.secret(reference, purpose: "to log in")) {
    case .secret(let reference, let purpose): #expect(try reference == self.reference && purpose == "to log in")
    default: Issue.record("another call")
    }
    switch try sent(.move(reference, generation: 7, item, .standard)) {
    case .move(let reference, let generation, let item, let group):
      #expect(try reference == self.reference && generation == 7 && item == self.item && group == .standard)
    default: Issue.record("another call")
    }
    switch try sent(.contains(.standard)) {
    case .contains(let group): #expect(group == .standard)
    default: Issue.record("another call")
    }
    switch try sent(.discard(item, .standard)) {
    case .discard(let item, let group): #expect(item == self.item && group == .standard)
    default: Issue.record("another call")
    }
    switch try sent(.entry(reference)) {
    case .entry(let reference): #expect(try reference == self.reference)
    default: Issue.record("another call")
    }
    switch try sent(.remove(reference)) {
    case .remove(let reference): #expect(try reference == self.reference)
    default: Issue.record("another call")
    }
  }

  @Test func callsAboutVersionsArriveAsTheyWereSent() throws {
    var attributes = Attributes()
    attributes["service"] = .text("mail")
    switch try sent(.history(reference)) {
    case .history(let reference): #expect(try reference == self.reference)
    default: Issue.record("another call")
    }
    for (itemClass, group, attributes) in [(nil, nil, Attributes()), (ItemClass.note, AccessGroup.standard, attributes)] {
      switch try sent(.removed(itemClass, group, attributes)) {
      case .removed(let foundClass, let foundGroup, let found):
        #expect(foundClass == itemClass && foundGroup == group && found == attributes)
      default: Issue.record("another call")
      }
    }
    for number in [0, 7, UInt64.max] {
      switch try sent(.version(reference, number, purpose: "to log in")) {
      case .version(let reference, let found, let purpose):
        #expect(try reference == self.reference && found == number && purpose == "to log in")
      default: Issue.record("another call")
      }
    }
    for number in [nil, 0, UInt64.max] {
      switch try sent(.restore(reference, number)) {
      case .restore(let reference, let found): #expect(try reference == self.reference && found == number)
      default: Issue.record("another call")
      }
    }
    for scope in [ItemRequest.PurgeScope.version(0), .version(.max), .former, .item] {
      switch try sent(.purge(reference, scope)) {
      case .purge(let reference, let found): #expect(try reference == self.reference && found == scope)
      default: Issue.record("another call")
      }
    }
    for (group, removed) in [(nil, true), (AccessGroup.standard, false)] {
      switch try sent(.purgeExpired(group, removed: removed)) {
      case .purgeExpired(let found, let isRemoved): #expect(found == group && isRemoved == removed)
      default: Issue.record("another call")
      }
    }
  }

  @Test func answersAboutVersionsArriveAsTheyWereSent() throws {
    var row = Attributes()
    row["version"] = .integer(.max)
    row["state"] = .text("changed")
    row["time"] = .time(.test)
    row["item"] = .data(item.encoded)
    // More than one frame holds.
    let all = Array(repeating: row, count: 1000)
    var (found, kinds): ([Attributes], [FrameKind]) = ([], [])
    try Answer.rows(all).frames(request: 9) { frame in
      let received = try Received(frame)
      kinds.append(received.header.kind)
      found += try received.message.rows()
    }
    #expect(found == all && kinds.dropLast().allSatisfy { $0 == .part } && kinds.last == .done && kinds.count > 1)
    for damage in [nil, VaultError(.recordForged, "a row"), VaultError(.recordMissing)] {
      try Answer.reference(reference, damagedHead: damage).frames(request: 1) { frame in
        let (reference, found) = try Received(frame).message.reference()
        #expect(try reference == self.reference && found == damage && found?.detail == damage?.detail)
      }
    }
    var fields = Attributes()
    fields["group"] = .text("g")
    fields["id"] = .data([UInt8](repeating: 1, count: 16))
    fields["detail"] = .text("of nothing")
    #expect(throws: WireError(.field)) { _ = try Message(fields: fields).reference() }
  }

  @Test func theLargestSecretFits() throws {
    let secret = try Secret(count: 1 << 20)
    let frame = try Request.items(.add(item, secret, nil, .whenUnlocked, installBound: false)).frame(request: 1)
    #expect(frame.count <= WireLimits.frameByteCount)
    let tooLarge = try Secret(count: (1 << 20) + (4 << 10))
    #expect(throws: WireError(.frameLength)) {
      _ = try Request.items(.add(item, tooLarge.duplicate(), nil, .whenUnlocked, installBound: false)).frame(request: 1)
    }
  }

  /// The sanitizers put an mlock of their own in place, which does nothing and always succeeds.
  static let locksForReal = unsafe dlsym(nil, "__tsan_init") == nil && dlsym(nil, "__asan_init") == nil

  /// A receiver without memory for a frame says which request it was, so that the sender learns that nothing was done.
  @Test(.enabled(if: locksForReal)) func aFrameWithoutMemoryIsCrowded() async {
    await #expect(processExitsWith: .success) {
      var ends: [Int32] = [0, 0]
      guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0, let descriptor = OwnedDescriptor(ends[0])
      else { exit(1) }
      let head = FrameHeader(.request(.add), request: 7, bodyByteCount: 1 << 20).bytes
      guard unsafe write(ends[1], head, head.count) == head.count else { exit(2) }
      var limit = rlimit(rlim_cur: 65_536, rlim_max: 65_536)
      guard unsafe setrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit) == 0 else { exit(3) }
      // The superuser's limits do not bind.
      if geteuid() == 0 { guard setuid(65_534) == 0 else { exit(4) } }
      do {
        _ = try FrameChannel(descriptor).receive()
        exit(5)
      } catch FrameChannel.Failure.crowded(let request) {
        guard request == 7 else { exit(6) }
      }
    }
  }

  @Test func answersArriveAsTheyWereSent() throws {
    func received(_ answer: consuming Answer) throws -> [(FrameHeader, Answer.Entries)] {
      var found: [(FrameHeader, Answer.Entries)] = []
      try answer.frames(request: 9) { frame in
        let received = try Received(frame)
        found.append((received.header, try received.message.entries()))
      }
      return found
    }
    let entry = Entry(reference: try reference, item: item, accessibility: .whenUnlockedThisDevice, generation: 3)
    let many = try received(.entries(.init(Array(repeating: entry, count: 1000))))
    #expect(many.map(\.0.kind) == [.part, .part, .part, .done])
    #expect(many.flatMap(\.1.entries) == Array(repeating: entry, count: 1000))
    #expect(try received(.entries(.init())).map(\.0.kind) == [.done])
    // Items that are large fill a frame before there are many.
    var large = item
    for number in 0..<5 { large.attributes["user.\(number)"] = .data([UInt8](repeating: 1, count: 65_000)) }
    let heavy = Entry(reference: try reference, item: large, accessibility: .whenUnlocked, generation: 1)
    #expect(try received(.entries(.init([heavy, heavy, heavy]))).map(\.1.entries.count) == [1, 1, 1])
    // Unreadable items come with the last part.
    var damaged = Answer.Entries(Array(repeating: entry, count: 300))
    damaged.unavailableCount = 2
    for number in 0..<100 { damaged.append(VaultError(.sealBroken, "\(number)")) }
    let both = try received(.entries(damaged)).map(\.1)
    #expect(both.count == 2 && both[0].damagedCount == 0 && both[0].unavailableCount == 0)
    #expect(both[1].damagedCount == 100 && both[1].damaged == damaged.damaged && both[1].unavailableCount == 2)
    #expect(damaged.damaged.map(\.detail) == (0..<Answer.Entries.damagedLimit).map { "\($0)" })
    for flag in [true, false] {
      try Answer.flag(flag).frames(request: 1) { frame in
        let found = try Received(frame).message.flag()
        #expect(found == flag)
      }
    }

    let entitlements = Entitlements([.init(.standard, .all), .init(try AccessGroup("g"), [.read, .list], confirmed: .read)])
    try Answer.entitlements(entitlements, application: "T.x").frames(request: 1) { frame in
      let found = try Received(frame).message.entitlements()
      #expect(found.held == entitlements && found.application == "T.x")
    }
    let status = AgentStatus(isLocked: true, wasUnlocked: false, vault: "/x")
    try Answer.status(status).frames(request: 1) { frame in
      let found = try Received(frame).message.status() == status
      #expect(found)
    }
    try Answer.reference(reference).frames(request: 1) { frame in
      let found = try Received(frame).message.reference().0 == reference
      #expect(found)
    }
    let causes: [KeychainError.Cause] = [
      .code, .vault(.noSuchSlot), .storage(.busy), .apps("a"), .containers("c"), .gate, .groupOfTeam, .absentAgent, .auditLog,
    ]
    for cause in causes {
      let received = try Received(KeychainError(.locked, cause: cause, "d").frame(request: 1))
      #expect(received.header.kind == .failed)
      let error = try received.message.failure()
      #expect(error.code == .locked && error.cause == cause && error.detail == "d")
    }
  }

  @Test func eachRequestHasANumberOfItsOwn() {
    for kind in Request.Kind.allCases { #expect(FrameKind(rawValue: kind.rawValue) == .request(kind)) }
  }

  @Test func noticesArriveAsTheyWereSent() throws {
    let reference = try reference
    let all: [Notice] = [.added(reference), .updated(reference), .removed(reference), .locked, .unlocked, .missed]
    for notices in [all, []] {
      let received = try Received(Notice.frame(notices, request: 3))
      #expect(received.header.kind == .notices && received.header.request == 3)
      let found = try received.message.notices()
      #expect(found == notices)
    }
    // As many as may wait, with the longest names.
    let long = Reference(group: try AccessGroup(String(repeating: "g", count: 255)), id: reference.id)
    let many = Array(repeating: Notice.updated(long), count: NoticeQueue.limit) + [.missed]
    let arrived = try Received(Notice.frame(many, request: 3)).message.notices() == many
    #expect(arrived)
    switch try sent(SessionRequest.watch) {
    case .watch: break
    default: Issue.record("another call")
    }
  }

  @Test func noticesThatAreNoneAreRefused() throws {
    func refused(_ change: (inout Attributes) -> Void) -> WireError? {
      var fields = Attributes()
      fields["kind"] = .integer(1)
      fields["group"] = .text("g")
      fields["id"] = .data([UInt8](repeating: 1, count: 16))
      change(&fields)
      do {
        _ = try Message(parts: [TLV.encode(fields)]).notices()
        return nil
      } catch { return error }
    }
    #expect(refused { _ in } == nil)
    for kind in [UInt64(0), 7, .max] { #expect(refused { $0["kind"] = .integer(kind) } == WireError(.field)) }
    #expect(refused { $0["kind"] = nil } == WireError(.field))
    #expect(refused { $0["id"] = nil } == WireError(.field))
    #expect(refused { $0["id"] = .data([1]) } == WireError(.field))
    #expect(refused { $0["other"] = .integer(1) } == WireError(.field))
    // A notice about no item names none.
    #expect(refused { $0["kind"] = .integer(4) } == WireError(.field))
    #expect(throws: WireError(.malformed)) { _ = try Message(parts: [[1]]).notices() }
    #expect(throws: WireError(.malformed)) { _ = try Message(secret: Secret(testing: "x")).notices() }
    var fields = Attributes()
    fields["kind"] = .integer(4)
    #expect(throws: WireError(.malformed)) { _ = try Message(fields: fields).notices() }
  }

  // MARK: Hostile

  private func header(_ bytes: [UInt8]) throws -> FrameHeader { try unsafe FrameHeader(parsing: bytes.span.bytes) }

  @Test func headersAreChecked() throws {
    let good = FrameHeader(.request(.status), request: 5, bodyByteCount: 6).bytes
    #expect(try header(good) == FrameHeader(.request(.status), request: 5, bodyByteCount: 6))
    for count in 0..<16 { #expect(throws: WireError(.frameLength)) { try header(Array(good.prefix(count))) } }
    for length in [UInt32(WireLimits.frameByteCount - 15), .max] {
      var bytes: [UInt8] = []
      bytes.append(littleEndian: length)
      #expect(throws: WireError(.frameLength)) { try header(bytes + good[4...]) }
    }
    let small = WireLimits.smallBodyByteCount
    #expect(throws: WireError(.frameLength)) {
      try header(FrameHeader(.request(.status), request: 5, bodyByteCount: small + 1).bytes)
    }
    #expect(try header(FrameHeader(.request(.add), request: 5, bodyByteCount: small + 1).bytes).bodyByteCount == small + 1)
    var version = good
    version[4] = 2
    #expect(throws: WireError(.version)) { try header(version) }
    for operation in UInt16(0)...300 where FrameKind(rawValue: operation) == nil {
      var bytes = good
      (bytes[6], bytes[7]) = (UInt8(operation & 0xFF), UInt8(operation >> 8))
      #expect(throws: WireError(.operation)) { try header(bytes) }
    }
  }

  /// Every frame cut at every byte, and with each byte changed: an error or another message, never a crash.
  @Test func everyDamageIsAnErrorOrAnotherMessage() throws {
    var calls: [[UInt8]] = []
    calls.append(
      try Request.items(.add(item, Secret(testing: "s"), .standard, .whenUnlocked, installBound: true)).frame(request: 1).copied)
    calls.append(
      try Request.items(.update(reference, generation: 3, item, Secret(testing: "s"), .afterFirstUnlock)).frame(request: 1).copied
    )
    let derived = try Credential.derived(Secret(count: 32), .passphrase, salt: reference.id.bytes)
    calls.append(try Request.session(.unlock(derived)).frame(request: 1).copied)
    calls.append(try Request.items(.items(.note, .standard, item.attributes)).frame(request: 1).copied)
    calls.append(try Request.items(.secret(reference, purpose: "p")).frame(request: 1).copied)
    calls.append(try Request.items(.removed(.note, .standard, item.attributes)).frame(request: 1).copied)
    calls.append(try Request.items(.version(reference, 7, purpose: "p")).frame(request: 1).copied)
    calls.append(try Request.items(.purge(reference, .version(7))).frame(request: 1).copied)
    var (errors, others) = (0, 0)
    func parse(_ operation: Request.Kind, _ body: [UInt8]) {
      do {
        _ = try Request.parse(operation, Message(parsing: unsafe Secret(copying: body.span.bytes)))
        others += 1
      } catch {
        #expect(error is WireError, "\(error)")
        errors += 1
      }
    }
    for frame in calls {
      guard case .request(let operation) = try header(Array(frame.prefix(16))).kind else { throw WireError(.operation) }
      let body = Array(frame.dropFirst(16))
      for count in 0..<body.count { parse(operation, Array(body.prefix(count))) }
      for index in body.indices {
        for change in [UInt8(1), 0x80, 0xFF] {
          var changed = body
          changed[index] ^= change
          parse(operation, changed)
        }
      }
      for other in Request.Kind.allCases where other != operation { parse(other, body) }
    }
    #expect(errors > 500 && others > 0)
  }

  @Test func malformedCallsAreRefused() throws {
    func refused(_ operation: Request.Kind, _ message: consuming Message) -> WireError? {
      do {
        _ = try Request.parse(operation, message)
        return nil
      } catch { return error as? WireError }
    }
    var fields = Attributes()
    fields["other"] = .integer(1)
    #expect(refused(.status, Message(fields: fields)) == WireError(.field))
    #expect(refused(.status, Message(parts: [[]])) == WireError(.malformed))
    #expect(try refused(.lock, Message(secret: Secret(testing: "x"))) == WireError(.malformed))
    #expect(refused(.remove, Message()) == WireError(.field))
    fields = Attributes()
    fields["group"] = .text("g")
    fields["id"] = .data([UInt8](repeating: 1, count: 16))
    fields["version"] = .integer(7)
    fields["with-item"] = .integer(1)
    // The item and one of its versions alone.
    #expect(refused(.purge, Message(fields: fields)) == WireError(.field))
    fields["with-item"] = .integer(0)
    #expect(refused(.purge, Message(fields: fields)) == nil)
    fields["with-item"] = nil
    #expect(refused(.version, Message(fields: fields)) == WireError(.field))
    fields = Attributes()
    fields["kind"] = .integer(1)
    fields["text-count"] = .integer(5)
    #expect(try refused(.unlock, Message(fields: fields, secret: Secret(testing: "1234"))) == WireError(.field))
  }
}

extension Secret {
  var copied: [UInt8] { copyIntoUnprotectedBytes() }
}
