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

  consuming func answer(to kind: Request.Kind) throws -> Answer { try Answer(to: kind, message) }
}

@Suite struct WireTests {
  static let item: Item = {
    var item = Item(service: "mail", account: "ada")
    item.label = "L"
    item.attributes["user.data"] = .data([0, 1, 2])
    return item
  }()

  static var reference: Reference {
    get throws { Reference(group: try AccessGroup("team.shared"), id: try #require(Identifier(Array(1...16)))) }
  }

  private let item = Self.item
  private var reference: Reference { get throws { try Self.reference } }

  static func text(_ secret: borrowing Secret) -> String { String(decoding: secret.copyIntoUnprotectedBytes(), as: UTF8.self) }

  private func sent(_ request: consuming SessionRequest) throws -> SessionRequest { try Self.sent(request) }

  private func sent(_ request: consuming ItemRequest) throws -> ItemRequest {
    guard case .items(let found) = try Received(Request.items(request).frame(request: 7)).request() else {
      throw WireError(.operation)
    }
    return found
  }

  static func sent(_ request: consuming SessionRequest) throws -> SessionRequest {
    guard case .session(let found) = try Received(Request.session(request).frame(request: 7)).request() else {
      throw WireError(.operation)
    }
    return found
  }

  @Test func theProgramThatARequestIsForArrives() throws {
    for client in [BusClient.unknown, .process(1, start: 0), .process(.max, start: .max)] {
      var received = try Received(Request.items(.secret(reference, purpose: "p")).frame(request: 1, for: client))
      #expect(try received.message.takeClient() == client)
      guard case .items(.secret) = try received.request() else { throw WireError(.operation) }
    }
    var received = try Received(Request.session(.status).frame(request: 1))
    #expect(try received.message.takeClient() == nil)
    for fields: [String: AttributeValue] in [
      ["for": .integer(1)], ["for-start": .integer(1)], ["for": .integer(0), "for-start": .integer(1)],
      ["for": .integer(1 << 31), "for-start": .integer(1)], ["for": .text("1"), "for-start": .integer(1)],
    ] {
      var message = Message()
      for (name, value) in fields { message.fields[name] = value }
      #expect(throws: WireError(.field), "\(fields)") { _ = try message.takeClient() }
    }
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
    let made = NewItems([item, Item(service: "s", account: ""), item], [3, 0, 2], secrets: try Secret(testing: "abcde"))
    let new = try #require(made)
    switch try sent(.addAll(new, .standard, .afterFirstUnlock)) {
    case .addAll(let found, let group, let accessible):
      #expect(found.items == new.items && found.byteCounts == [3, 0, 2] && Self.text(found.secrets) == "abcde")
      #expect(group == .standard && accessible == .afterFirstUnlock)
    default: Issue.record("another call")
    }
    // As many as there may be, of as many bytes as a sender puts together.
    let length = NewItems.aimByteCount / NewItems.maximumCount
    let label = String(repeating: "x", count: length - item.encoded.count - 100)
    let full = (0..<NewItems.maximumCount).map { number in
      var item = item
      item.label = label + "\(number)"
      return item
    }
    #expect(full.reduce(0) { $0 + $1.encoded.count } <= NewItems.aimByteCount)
    let madeOfMany = NewItems(full, full.map { _ in 64 }, secrets: try Secret(count: 64 * full.count))
    switch try sent(.addAll(#require(madeOfMany), .standard, .whenUnlocked)) {
    case .addAll(let found, _, _): #expect(found.items == full)
    default: Issue.record("another call")
    }
    switch try sent(.contains(.standard)) {
    case .contains(let group): #expect(group == .standard)
    default: Issue.record("another call")
    }
    for mustBe in [false, true] {
      switch try sent(.discard(item, .standard, mustKeep: mustBe)) {
      case .discard(let item, let group, let mustKeep):
        #expect(item == self.item && group == .standard && mustKeep == mustBe)
      default: Issue.record("another call")
      }
      switch try sent(.remove(reference, generation: mustBe ? 7 : nil, mustKeep: mustBe)) {
      case .remove(let reference, let generation, let mustKeep):
        #expect(try reference == self.reference && mustKeep == mustBe && generation == (mustBe ? 7 : nil))
      default: Issue.record("another call")
      }
    }
    switch try sent(.entry(reference)) {
    case .entry(let reference): #expect(try reference == self.reference)
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

  @Test func eachRequestHasANumberOfItsOwn() {
    for kind in Request.Kind.allCases { #expect(FrameKind(rawValue: kind.rawValue) == .request(kind)) }
  }
}

extension Secret {
  var copied: [UInt8] { copyIntoUnprotectedBytes() }
}
