import AccessRights
import CofferAgent
import CofferRequests
import CofferTesting
import CofferWire
import Foundation
import SecretMemory
import Testing
import VaultCore
import Waiting

@testable import Coffer

/// The notices of `Keychain.changes`, over both transports unless a test says otherwise.
@Suite(.timeLimit(.minutes(60))) struct ChangesTests {
  private let item = Item(service: "mail", account: "ada")

  /// The next so many.
  private static func next(_ count: Int, _ iterator: inout KeychainChanges.Iterator) async throws -> [KeychainChange] {
    var changes: [KeychainChange] = []
    while changes.count < count, let change = try await iterator.next() { changes.append(change) }
    return changes
  }

  @Test(arguments: Transport.allCases) func changesAreReported(_ transport: Transport) async throws {
    let teams = try Teams(transport)
    let editor = try teams.keychain(teams.editor)
    var changes = editor.changes.makeAsyncIterator()
    let one = try editor.add(item, secret: Secret(testing: "1"))
    try editor.update(one, secret: Secret(testing: "2"))
    let renamed = try editor.update(one) { $0["account"] = "bob" }
    let own = try #require(try editor.ownGroup)
    let moved = try editor.move(renamed, to: own)
    // A request that changes nothing, or is refused, gives no notice.
    #expect(try editor.move(moved, to: own) == moved)
    #expect(KeychainTests.code { try editor.remove(renamed) } == .notFound)
    _ = try editor.items()
    try editor.remove(moved)
    let found = try await Self.next(7, &changes)
    #expect(
      found == [
        .added(one), .updated(one), .removed(one), .added(renamed), .removed(renamed), .added(moved), .removed(moved),
      ])
    // A second sequence begins when it was requested.
    var later = editor.changes.makeAsyncIterator()
    try editor.lock()
    try editor.lock()
    let new = try editor.add(item, secret: Secret(testing: "1"), accessible: .afterFirstUnlock)
    #expect(try await Self.next(2, &later) == [.locked, .added(new)])
    #expect(try await Self.next(2, &changes) == [.locked, .added(new)])
    withExtendedLifetime(teams) {}
  }

  @Test func theVaultIsUnlockedAgain() async throws {
    let teams = try Teams()
    // In the process.
    let keychain = try teams.keychain(teams.editor)
    var changes = keychain.changes.makeAsyncIterator()
    try keychain.lock()
    let transport = try #require(keychain.transport as? InProcessTransport)
    try transport.put(Vault.openThrowAway(teams.store))
    // In the process one that is only proven tells nothing.
    try transport.put(Vault.openThrowAway(teams.store))
    let one = try keychain.add(item, secret: Secret(testing: "1"), accessible: .afterFirstUnlock)
    #expect(try await Self.next(3, &changes) == [.locked, .unlocked, .added(one)])
    // Through the agent, from before it was unlocked at all.
    let bench = try AgentBench(teams.store, teams.editor, isUnlocked: false)
    let client = bench.keychain
    #expect(KeychainTests.code { try client.items() } == .locked)
    var told = client.changes.makeAsyncIterator()
    try bench.vault.unlock(.throwAway())
    try bench.vault.unlock(.throwAway())
    try client.lock()
    try client.update(one, secret: Secret(testing: "2"))
    try bench.vault.unlock(.throwAway())
    // Through the agent the owner's return is told each time.
    #expect(try await Self.next(5, &told) == [.unlocked, .unlocked, .locked, .updated(one), .unlocked])
  }

  /// Nothing tells what it was.
  @Test(arguments: Transport.inThisProcess) func changesOfTheFileByOthersAreMissed(_ transport: Transport) async throws {
    let teams = try Teams(transport)
    let editor = try teams.keychain(teams.editor)
    let one = try editor.add(item, secret: Secret(testing: "1"), accessible: .afterFirstUnlock)
    var changes = editor.changes.makeAsyncIterator()
    var other = try Vault.openThrowAway(teams.store)
    try other.update(one, secret: Secret(testing: "2"), at: .test)
    _ = try editor.items()
    #expect(try await Self.next(1, &changes) == [.missed])
    try other.update(one, secret: Secret(testing: "3"), at: .test)
    try editor.update(one, secret: Secret(testing: "4"))
    // `missed` stands for what follows until it is taken.
    #expect(try await Self.next(1, &changes) == [.missed])
    try editor.lock()
    #expect(try await Self.afterMissed(&changes, [.updated(one)]) == .locked)
    try other.update(one, secret: Secret(testing: "5"), at: .test)
    _ = try editor.items()
    #expect(try await Self.next(1, &changes) == [.missed])
    withExtendedLifetime(teams) {}
  }

  /// The next one that is not one of these, which may have been told or not.
  private static func afterMissed(
    _ iterator: inout KeychainChanges.Iterator, _ others: Set<KeychainChange>
  ) async throws -> KeychainChange? {
    while let change = try await iterator.next() { if !others.contains(change) { return change } }
    return nil
  }

  @Test func anAgentThatNobodyUsesLooksByItself() async throws {
    let teams = try Teams()
    let bench = try AgentBench(teams.store, teams.editor)
    let keychain = bench.keychain
    let one = try keychain.add(item, secret: Secret(testing: "1"))
    bench.vault.look()
    var changes = keychain.changes.makeAsyncIterator()
    var other = try Vault.openThrowAway(teams.store)
    try other.update(one, secret: Secret(testing: "2"), at: .test)
    bench.vault.look()
    #expect(try await Self.next(1, &changes) == [.missed])
    bench.vault.look()
    try keychain.remove(one)
    #expect(try await Self.next(1, &changes) == [.removed(one)])
  }

  // MARK: Rights

  /// The agent's client is the stranger; the test does what others do.
  @Test func onlyWhatTheCallerMayListIsTold() async throws {
    let teams = try Teams()
    let bench = try AgentBench(teams.store, teams.stranger)
    let stranger = bench.keychain
    let shared = try AccessGroup("\(teams.team).shared")
    let own = try #require(try stranger.ownGroup)
    let application = teams.stranger.manifest.applicationIdentifier
    func add(_ service: String, _ group: AccessGroup) throws -> Reference {
      let call = ItemRequest.add(
        Item(service: service, account: ""), try Secret(testing: "x"), group, .whenUnlocked, installBound: false)
      guard case .reference(let reference, damagedHead: _) = try bench.vault.answer(call, as: { _, _ in .owner }) else {
        throw KeychainError(.agent)
      }
      return reference
    }
    var changes = stranger.changes.makeAsyncIterator()
    _ = try add("one", shared)
    let first = try add("one", own)
    #expect(try await Self.next(1, &changes) == [.added(first)])
    // Given, and taken back, as somebody else does it; who watches looks at its rights each time.
    var vault = try Vault.openThrowAway(teams.store)
    try vault.transaction { try $0.put(Grant(to: application, shared, .list, at: .test)) }
    bench.vault.look()
    #expect(try await Self.next(1, &changes) == [.missed])
    let second = try add("two", shared)
    #expect(try await Self.next(1, &changes) == [.added(second)])
    try vault.transaction { try $0.removeGrant(to: application, shared) }
    bench.vault.look()
    #expect(try await Self.next(1, &changes) == [.missed])
    // To read is not to list.
    try vault.transaction { try $0.put(Grant(to: application, shared, .read, at: .test)) }
    bench.vault.look()
    #expect(try await Self.next(1, &changes) == [.missed])
    _ = try add("three", shared)
    let last = try add("three", own)
    #expect(try await Self.next(1, &changes) == [.added(last)])
  }

  @Test func aRightThatIsTakenBackSilencesWhatWaits() async throws {
    let teams = try Teams()
    let (stranger, shared) = (try teams.keychain(teams.stranger), try AccessGroup("\(teams.team).shared"))
    let application = teams.stranger.manifest.applicationIdentifier
    var vault = try Vault.openThrowAway(teams.store)
    try vault.transaction { try $0.put(Grant(to: application, shared, .all, at: .test)) }
    _ = try stranger.items()
    var changes = stranger.changes.makeAsyncIterator()
    _ = try stranger.add(item, secret: Secret(testing: "1"), group: shared)
    try vault.transaction { try $0.removeGrant(to: application, shared) }
    // The look at the rights is a look at the vault.
    #expect(try await Self.next(1, &changes) == [.missed])
    let own = try stranger.add(item, secret: Secret(testing: "1"))
    #expect(try await Self.next(1, &changes) == [.added(own)])
  }

  @Test(arguments: Transport.allCases) func aRemovedAppIsNoLongerNotified(_ transport: Transport) async throws {
    let teams = try Teams(transport)
    let editor = try teams.keychain(teams.editor)
    var changes = editor.changes.makeAsyncIterator()
    try teams.remove(teams.editor)
    #expect(KeychainTests.code { try editor.items() } == transport.codeOfRemovedApp)
    await #expect(throws: KeychainError(transport.codeOfRemovedApp)) { _ = try await Self.next(1, &changes) }
    withExtendedLifetime(teams) {}
  }

  /// If the rights of a watcher are in a record that a locked vault cannot read, it is notified of the lock, and later of
  /// missed changes.
  @Test(arguments: Transport.inThisProcess) func changesThatCannotBeJudgedAreMissedLater(_ transport: Transport) async throws {
    let teams = try Teams(transport)
    let editor = try teams.keychain(teams.editor)
    var changes = editor.changes.makeAsyncIterator()
    try editor.lock()
    var vault = try Vault.openThrowAway(teams.store)
    try vault.transaction { transaction in
      let name = teams.editor.manifest.applicationIdentifier
      try transaction.markRemoved(name, at: .test)
      _ = try transaction.install(teams.editor, at: .test)
    }
    #expect(KeychainTests.code { try editor.entitlements } == .locked)
    #expect(try await Self.next(1, &changes) == [.locked])
    switch transport {
    case .inProcess: try #require(editor.transport as? InProcessTransport).put(Vault.openThrowAway(teams.store))
    case .socket, .system: try editor.unlock(with: .throwAway())
    }
    let found = try await Self.next(2, &changes)
    #expect(Set(found) == [.missed, .unlocked])
    withExtendedLifetime(teams) {}
  }

  // MARK: Slow, late, gone

  @Test func aSlowReaderIsToldThatItMissedChanges() throws {
    let queue = NoticeQueue {}
    let reference = Reference(group: .standard, id: .init([UInt8](repeating: 1, count: 16))!)
    for _ in 0..<NoticeQueue.limit { queue.put([.updated(reference)]) }
    #expect(queue.takeAll() == Array(repeating: .updated(reference), count: NoticeQueue.limit))
    queue.put(Array(repeating: .updated(reference), count: NoticeQueue.limit + 1))
    for _ in 0..<10_000 { queue.put([.added(reference), .removed(reference)]) }
    #expect(queue.takeAll() == [.missed])
    // Whether it is locked is told also then, and does not make it grow.
    queue.put([.missed, .added(reference), .missed, .locked])
    #expect(queue.takeAll() == [.missed, .locked])
    for _ in 0..<10_000 { queue.put([.locked, .unlocked]) }
    #expect(queue.takeAll().count <= NoticeQueue.limit)
    queue.put([.locked, .missed, .unlocked])
    #expect(queue.takeFirst() == .locked)
    #expect(queue.takeFirst() == .missed)
    #expect(queue.takeFirst() == .unlocked)
    #expect(queue.takeFirst() == nil)
  }

  /// A client that asks to watch and never reads: the agent goes on for others, keeps no more than its limit, and says so at last.
  @Test func aReaderThatDoesNotReadDelaysNothing() throws {
    let teams = try Teams()
    let bench = try AgentBench(teams.store, teams.editor)
    let channel = try AgentSocket(path: bench.socket).connected()
    try channel.introduce()
    try channel.send(Request.session(.watch).frame(request: 9))
    let keychain = bench.keychain
    _ = try keychain.items()
    func receive() throws -> [Notice]? {
      guard var frame = try channel.receive(patience: 60_000), let message = frame.message.take() else { return nil }
      let header = frame.header
      #expect(header.kind == .notices && header.request == 9)
      return try message.notices()
    }
    #expect(try receive() == [])
    // Far more than the socket holds.
    for _ in 0..<20_000 { bench.vault.board.tell(.locked) }
    let one = try keychain.add(item, secret: Secret(testing: "1"))
    var (count, found): (Int, Set<Notice>) = (0, [])
    while !found.contains(.added(one)), !found.contains(.missed), let notices = try receive() {
      #expect(notices.count <= WireLimits.answerPartCount)
      count += notices.count
      found.formUnion(notices)
    }
    #expect(found.contains(.missed) && count < 20_000)
    // And goes on.
    try keychain.remove(one)
    while !found.contains(.removed(one)), let notices = try receive() { found.formUnion(notices) }
    #expect(found.contains(.removed(one)))
  }

  @Test func anAgentThatWasAwayIsReportedAsMissed() async throws {
    let teams = try Teams()
    var bench: AgentBench? = try AgentBench(teams.store, teams.editor)
    let directory = try #require(bench?.directory)
    let keychain = try #require(bench?.keychain)
    var changes = keychain.changes.makeAsyncIterator()
    let one = try keychain.add(item, secret: Secret(testing: "1"))
    #expect(try await Self.next(1, &changes) == [.added(one)])
    bench = nil
    let next = try AgentBench(teams.store, teams.editor, in: directory)
    // The process is the same, so to the client it is the same agent: nothing says that it was unlocked anew.
    #expect(try await Self.next(1, &changes) == [.missed])
    try next.keychain.remove(one)
    #expect(try await Self.next(1, &changes) == [.removed(one)])
  }

  /// One that was asked for before there was an agent.
  @Test func theAgentMayComeLater() async throws {
    let teams = try Teams()
    let directory = FileManager.default.temporaryDirectory.appending(path: "coffer-agent-\(UUID().uuidString.prefix(8))")
    var changes = Keychain(AgentTransport(at: directory.path + "/agent.sock")).changes.makeAsyncIterator()
    let bench = try AgentBench(teams.store, teams.editor, in: directory)
    // It was unlocked before it was found.
    #expect(try await Self.next(2, &changes) == [.missed, .unlocked])
    withExtendedLifetime(bench) {}
  }

  @Test(arguments: Transport.allCases) func itEndsWhenItsTaskIsCancelled(_ transport: Transport) async throws {
    let teams = try Teams(transport)
    let editor = try teams.keychain(teams.editor)
    let changes = editor.changes
    let task = Task {
      var count = 0
      for try await _ in changes { count += 1 }
      return count
    }
    task.cancel()
    #expect(try await task.value == 0)
    withExtendedLifetime(teams) {}
  }

  /// After the sequence is released, no thread waits for it.
  @Test func aReleasedSequenceEndsItsThread() async throws {
    let teams = try Teams()
    let bench = try AgentBench(teams.store, teams.editor)
    let keychain = bench.keychain
    do {
      let changes = keychain.changes
      #expect(bench.vault.board.isWatched)
      withExtendedLifetime(changes) {}
    }
    try await waitAside(for: "nobody watches") { !bench.vault.board.isWatched }
    let transport = try #require(try teams.keychain(teams.editor).transport as? InProcessTransport)
    do {
      let watch = transport.watch()
      #expect(transport.board.isWatched)
      withExtendedLifetime(watch) {}
    }
    #expect(!transport.board.isWatched)
  }
}
