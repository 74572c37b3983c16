package import Coffer
import CofferFiles
import CofferRequests
package import MessageBus
import Synchronization
import VaultCore

/// Answers the calls of the Secret Service (freedesktop.org, version 0.2) from the agent's vault.
package final class Service: Sendable {
  package static let name = "org.freedesktop.secrets"
  /// The objects at and below them are served.
  package static let roots = [ObjectPath.root, ObjectPath.portalRoot]
  /// A search in a vault that was never unlocked waits so long for the owner: clients give up after 25 seconds.
  static let searchMilliseconds: Int64 = 20_000
  static let promptMilliseconds: Int64 = 60_000

  let state = ServiceState()
  let outbox: Outbox
  let unlocking: Unlocking
  let temporary = TemporaryItems()
  let itemLocks = ItemLocks()
  private let workers = Workers()
  private let keychains = Mutex<[Keychain]>([])
  private let connect: @Sendable () throws -> Keychain

  /// - Parameters:
  ///   - command: The path of `coffer`, which asks for the passphrase.
  ///   - connect: Connects to the agent.
  package init(_ outbox: Outbox, command: String, connect: @escaping @Sendable () throws -> Keychain) {
    self.outbox = outbox
    self.connect = connect
    unlocking = Unlocking(command: command)
  }

  package func forget(_ sender: String) {
    workers.forget(sender)
    state.forget(sender)
  }

  /// Whether the end of this process takes nothing from clients but their sessions, which they begin anew when the name has another
  /// owner.
  package var isIdle: Bool { workers.isIdle && state.isIdle && temporary.items(with: [:]).isEmpty }

  // MARK: Calls

  /// Answers later, through the outbox, after `begin`.
  package func receive(_ call: Call) {
    do {
      guard let path = ObjectPath(call.path) else { throw BusError.noSuchObject }
      guard let (interface, method) = Interface.method(call.interface, call.member, of: path) else {
        throw BusError.unknownMethod("\(call.member.prefix(64))")
      }
      let arguments = try call.body.get()
      guard arguments.map(\.signature) == method.input else {
        throw BusError.invalidArguments("\(method.name) takes (\(method.input.joined()))")
      }
      let invocation = Invocation(call, path, interface, method, arguments)
      try prepare(invocation)
      do { try workers.submit(job(invocation)) } catch {
        state.endRequest(call.number)
        throw error
      }
    } catch {
      outbox.reply(to: call.number, .failure(BusError(error)))
    }
  }

  /// Begins the calls that were received.
  /// - Parameter mayTake: Whether the caller has the time to carry out one of them.
  /// - Returns: The call for the caller, if there is one.
  package func begin(mayTake: Bool) -> (() -> Void)? { workers.begin(mayTake: mayTake) }

  /// A call that is well formed.
  struct Invocation: Sendable {
    let number: UInt64
    let sender: String
    let client: BusClient
    let isPortal: Bool
    let path: ObjectPath
    let interface: Interface
    let method: Interface.Method
    let arguments: [Value]

    init(_ call: Call, _ path: ObjectPath, _ interface: Interface, _ method: Interface.Method, _ arguments: [Value]) {
      (number, sender) = (call.number, call.sender)
      isPortal = call.names.contains(Service.portalName)
      client = call.client.map { .process($0.number, start: $0.start) } ?? .unknown
      (self.path, self.interface, self.method, self.arguments) = (path, interface, method, arguments)
    }
  }

  private func job(_ invocation: Invocation, mayAsk: Bool = true) -> Workers.Job {
    let drop = { @Sendable [self] in reply(to: invocation, .failure(.noSuchObject)) }
    return Workers.Job(
      sender: invocation.sender, isChange: invocation.method.isChange, run: { [self] in run(invocation, mayAsk: mayAsk) },
      drop: drop)
  }

  /// - Returns: Whether the call is answered.
  private func run(_ invocation: Invocation, mayAsk: Bool) -> Bool {
    do {
      let values = try withStore(for: invocation.client) { try answer(invocation, $0) }
      reply(to: invocation, .success(values))
    } catch is NeedsOwner where mayAsk && unlocking.canAsk {
      wait(for: invocation)
      return false
    } catch {
      reply(to: invocation, .failure(error is NeedsOwner ? .isLocked : BusError(error)))
    }
    return true
  }

  private func reply(to invocation: Invocation, _ result: Result<[Value], BusError>) {
    state.endRequest(invocation.number)
    outbox.reply(to: invocation.number, result, after: invocation.method.name == Interface.retrieve ? Self.portalMilliseconds : 0)
  }

  /// A call needs a vault that was never unlocked.
  struct NeedsOwner: Error {}

  /// A call that waits is one of those that its client may have at once.
  private func wait(for invocation: Invocation) {
    let limit = invocation.path == .portal ? Self.promptMilliseconds : Self.searchMilliseconds
    unlocking.ask(within: limit) { [self] isUnlocked in
      guard !isUnlocked else { return workers.resume(job(invocation, mayAsk: false)) }
      workers.release(invocation.sender)
      reply(to: invocation, .failure(.isLocked))
    }
  }

  /// Each thread has a connection of its own: a call that waits for the owner must not hold up others.
  func withStore<Result>(for client: BusClient, _ body: (ItemStore) throws -> Result) throws -> Result {
    let keychain = try keychains.withLock { $0.popLast() } ?? connect()
    defer { keychains.withLock { $0.append(keychain) } }
    return try body(ItemStore(keychain: keychain.asking(for: client), temporary: temporary))
  }

  private func answer(_ invocation: Invocation, _ store: ItemStore) throws -> [Value] {
    switch (invocation.interface.name, invocation.path) {
    case (Interface.properties, _): return try properties(invocation, store)
    case (Interface.introspectable, _): return [.text(Interface.introspection(of: invocation.path))]
    case (_, .service): return try service(invocation, store)
    case (_, .collection(let name)): return try collection(name, invocation, store)
    case (_, .item(let name, let id)): return try item(name, id, invocation, store)
    case (_, .session(let name)):
      _ = try state.session(ObjectPath.session(name), of: invocation.sender)
      state.close(name)
      return []
    case (_, .prompt(let name)): return try prompt(name, invocation)
    case (_, .portal): return try retrieveSecret(invocation, store)
    case (_, .portalRequest(let path)): return try closeRequest(path, invocation)
    }
  }

  // MARK: Collections

  func catalog(_ store: ItemStore) throws -> Catalog {
    try state.catalog {
      // Before the first unlock only what is there from the start is known.
      do { return try store.keychain.servedCatalog() } catch  where BusError(error) == .isLocked { return Catalog() }
    }
  }

  /// - Throws: `BusError`: `noSuchObject`.
  func collection(_ name: ObjectPath.CollectionName, _ store: ItemStore) throws -> Collection {
    guard let collection = try catalog(store).collection(name) else { throw BusError.noSuchObject }
    return collection
  }

  /// Whether the vault was unlocked since the agent runs.
  func isOpen(_ store: ItemStore) throws -> Bool {
    switch try store.keychain.agentStateIfThere() {
    case .unlocked, .lockedAfterUnlock: true
    case .locked, nil: false
    }
  }

  func isLocked(_ collection: Collection, _ store: ItemStore) throws -> Bool {
    try state.locked.contains(collection.name) || collection.name != Collection.sessionName && !isOpen(store)
  }

  /// For what the agent refuses with the same error in a vault that was never unlocked, so that it need not be asked before.
  func checkNotLocked(_ collection: Collection) throws { if state.locked.contains(collection.name) { throw BusError.isLocked } }

  /// For what is refused at once, so that clients call Unlock.
  func checkUnlocked(_ collection: Collection, _ store: ItemStore) throws {
    if try isLocked(collection, store) { throw BusError.isLocked }
  }

  /// Runs a body that may wait for the owner.
  func sealed<Result>(_ store: ItemStore, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch  where BusError(error) == .isLocked {
      if try !isOpen(store) { throw NeedsOwner() }
      throw error
    }
  }
}
