import Coffer
import CofferRequests
import MessageBus
import Synchronization
import VaultCore

/// The memory of the service, for all threads.
final class ServiceState: Sendable {
  static let maximumSessions = 64
  static let maximumPrompts = 16
  static let maximumSenders = 1024

  /// A question that a client was offered, and has not begun or ended.
  struct Prompt: Sendable {
    let sender: String
    let client: BusClient
    /// The paths that Unlock was called with.
    let paths: [String]
    var hasBegun = false
  }

  fileprivate struct Contents {
    var sessions: [String: Session] = [:]
    var prompts: [String: Prompt] = [:]
    /// Those of the portal that have no answer, by the numbers of the calls.
    var requests: [UInt64: (path: String, sender: String)] = [:]
    var last = 0
    var locked: Set<String> = []
    var catalog: Catalog?
    var catalogNumber = 0
    var announced = [Collection.login]
    /// The items that clients know, by their references: notices name no path.
    var known: [Reference: String] = [:]
    var references: [String: Reference] = [:]
  }

  private let contents = Mutex(Contents())

  /// Whether no question is open, and no collection is locked apart from the vault.
  var isIdle: Bool { contents.withLock { $0.prompts.isEmpty && $0.requests.isEmpty && $0.locked.isEmpty } }

  // MARK: Clients

  /// - Returns: The name of the session.
  /// - Throws: `BusError`: `limitsExceeded`.
  func add(_ session: Session) throws(BusError) -> String {
    let name = contents.withLock { contents -> String? in
      let name = contents.name(
        "s", for: session.sender, among: contents.sessions.values.map(\.sender), most: Self.maximumSessions)
      if let name { contents.sessions[name] = session }
      return name
    }
    guard let name else { throw .limitsExceeded("more than \(Self.maximumSessions) sessions") }
    return name
  }

  /// - Throws: `BusError`: `noSession`, also for the session of another program.
  func session(_ path: String, of sender: String) throws(BusError) -> Session {
    guard case .session(let name)? = ObjectPath(path), let session = contents.withLock({ $0.sessions[name] }),
      session.sender == sender
    else { throw .noSession }
    return session
  }

  func close(_ name: String) { contents.withLock { $0.sessions[name] = nil } }

  func add(_ prompt: Prompt) throws(BusError) -> String {
    let name = contents.withLock { contents -> String? in
      let name = contents.name("p", for: prompt.sender, among: contents.prompts.values.map(\.sender), most: Self.maximumPrompts)
      if let name { contents.prompts[name] = prompt }
      return name
    }
    guard let name else { throw .limitsExceeded("more than \(Self.maximumPrompts) prompts") }
    return name
  }

  func prompt(_ name: String, of sender: String) throws(BusError) -> Prompt {
    guard let prompt = contents.withLock({ $0.prompts[name] }), prompt.sender == sender else { throw .noSuchObject }
    return prompt
  }

  /// - Returns: False if it had begun before.
  func begin(_ name: String) -> Bool {
    contents.withLock { contents in
      guard let prompt = contents.prompts[name], !prompt.hasBegun else { return false }
      contents.prompts[name]?.hasBegun = true
      return true
    }
  }

  /// - Returns: The prompt, to the one who ends it: `Completed` is sent once.
  func end(_ name: String) -> Prompt? { contents.withLock { $0.prompts.removeValue(forKey: name) } }

  // MARK: Requests of the portal

  /// - Returns: False if another one has the path.
  func add(request number: UInt64, at path: String, of sender: String) -> Bool {
    contents.withLock { contents in
      guard !contents.requests.values.contains(where: { $0.path == path }) else { return false }
      contents.requests[number] = (path, sender)
      return true
    }
  }

  /// Whether it was not closed.
  func hasRequest(_ number: UInt64) -> Bool { contents.withLock { $0.requests[number] != nil } }

  func endRequest(_ number: UInt64) { contents.withLock { $0.requests[number] = nil } }

  /// - Returns: The number of the call.
  func closeRequest(at path: String, of sender: String) -> UInt64? {
    contents.withLock { contents in
      guard let (number, _) = contents.requests.first(where: { $0.value == (path, sender) }) else { return nil }
      contents.requests[number] = nil
      return number
    }
  }

  // MARK: Their end

  /// A client has gone.
  func forget(_ sender: String) {
    contents.withLock { contents in
      contents.sessions = contents.sessions.filter { $0.value.sender != sender }
      contents.prompts = contents.prompts.filter { $0.value.sender != sender }
      contents.requests = contents.requests.filter { $0.value.sender != sender }
    }
  }

  // MARK: Collections

  /// Those that were locked over the bus. The keys stay where they are.
  var locked: Set<String> { contents.withLock { $0.locked } }
  func lock(_ collection: String) { contents.withLock { _ = $0.locked.insert(collection) } }
  func unlock(_ collection: String) { contents.withLock { _ = $0.locked.remove(collection) } }
  func unlockAll() { contents.withLock { $0.locked = [] } }

  /// - Parameter load: Reads it from the vault.
  func catalog(_ load: () throws -> Catalog) rethrows -> Catalog {
    let (known, number) = contents.withLock { ($0.catalog, $0.catalogNumber) }
    if let known { return known }
    let catalog = try load()
    // A change in between makes it an old one.
    contents.withLock { if $0.catalogNumber == number, catalog.isComplete { $0.catalog = catalog } }
    return catalog
  }

  func forgetCatalog() {
    contents.withLock { contents in
      contents.catalog = nil
      contents.catalogNumber += 1
    }
  }

  /// - Returns: The collections that signals have named before.
  func announce(_ collections: [Collection]) -> [Collection] {
    contents.withLock { contents in
      defer { contents.announced = collections }
      return contents.announced
    }
  }

  // MARK: Items

  func handOut(_ items: [StoredItem]) {
    contents.withLock { contents in for item in items { contents.handOut(item.entry.reference, item.path) } }
  }

  func handOut(_ reference: Reference, _ path: String) { contents.withLock { $0.handOut(reference, path) } }

  /// nil if it was not handed out.
  func path(of reference: Reference) -> String? { contents.withLock { $0.known[reference] } }

  /// nil if it was not handed out. The item may be gone by now.
  func reference(at path: String) -> Reference? { contents.withLock { $0.references[path] } }

  func takeBack(_ reference: Reference) -> String? {
    contents.withLock { contents in
      let path = contents.known.removeValue(forKey: reference)
      if let path { contents.references[path] = nil }
      return path
    }
  }
}

extension ServiceState.Contents {
  fileprivate mutating func handOut(_ reference: Reference, _ path: String) {
    known[reference] = path
    references[path] = reference
  }

  /// A name for another session or prompt of a client. Returns nil if there are too many.
  /// - Parameter senders: Those of the members there are, one for each.
  fileprivate mutating func name(_ prefix: String, for sender: String, among senders: [String], most: Int) -> String? {
    guard hasRoom(for: sender), senders.count(where: { $0 == sender }) < most else { return nil }
    last += 1
    return "\(prefix)\(last)"
  }

  fileprivate func hasRoom(for sender: String) -> Bool {
    let senders = Set(sessions.values.map(\.sender)).union(prompts.values.map(\.sender))
    return senders.contains(sender) || senders.count < ServiceState.maximumSenders
  }
}
