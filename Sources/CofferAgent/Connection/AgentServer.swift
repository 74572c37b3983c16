import CLinux
import CofferFiles
package import CofferStorage
package import CofferWire
import Glibc
import SecretMemory
import Synchronization

/// Accepts connections, and gives each a thread, so that no client delays another.
package final class AgentServer: Sendable {
  package enum Failure: Error, Equatable {
    /// Another agent has this socket, or this vault.
    case running
    /// The directory of the socket is not this user's alone.
    case openDirectory
    /// The lock file cannot be used.
    case lock(StorageError)
    case system(String, Int32)
  }

  private let shared: Conversation.SharedState
  /// The descriptor of `own` or `given`.
  private let listener: Int32
  /// nil if the service manager has made the socket.
  private let own: OwnSocket?
  private let given: OwnedDescriptor?
  private let lock: AgentLock
  private let wake: EventNotifier
  private let frameMilliseconds: Int32
  private let pinning: Peer.Pinning
  private let largeFrames = LargeFrames()
  private let connections = Mutex(Connections())

  private struct Connections {
    var isEnding = false
    var perProcess: [Int32: Int] = [:]
    /// To be shut down when the server ends.
    var descriptors: Set<Int32> = []
  }

  /// The listening socket.
  package enum Place: Sendable {
    /// A socket that is made here, in a directory that is made for this user alone.
    case path(String)
    /// One that the service manager has made. See `ListeningSockets`.
    case listening(Int32)
  }

  /// - Parameter path: The path of the socket.
  /// - Throws: `Failure`.
  package convenience init(
    at path: String, lockPath: String, vault: AgentVault, programs: any ProgramDirectory, questions: OwnerQuestions? = nil,
    frameMilliseconds: Int32 = WireLimits.frameMilliseconds, pinning: Peer.Pinning = .automatic,
    logFault: @escaping @Sendable (WireError, ProgramIdentity, Peer) throws -> Void = { _, _, _ in },
    log: @escaping @Sendable (Gate.Facts, Gate.Decision, Peer) throws -> Void
  ) throws(Failure) {
    try self.init(
      .path(path), lockPath: lockPath, vault: vault, programs: programs, questions: questions,
      frameMilliseconds: frameMilliseconds, pinning: pinning, logFault: logFault, log: log)
  }

  /// Has the socket; nothing is served yet.
  /// - Parameters:
  ///   - lockPath: A file that says, by a lock on it, that an agent has this vault.
  ///   - administration: Serves the owner's requests that are not about items.
  ///   - user: Whose vault it is.
  ///   - frameMilliseconds: How long a client may take to send a frame, or to take one.
  ///   - logFault: Logs bytes that are not a request.
  /// - Throws: `Failure`.
  package init(
    _ place: Place, lockPath: String, vault: AgentVault, programs: any ProgramDirectory,
    administration: VaultAdministration? = nil,
    user: UInt32 = getuid(), questions: OwnerQuestions? = nil, frameMilliseconds: Int32 = WireLimits.frameMilliseconds,
    pinning: Peer.Pinning = .automatic,
    logFault: @escaping @Sendable (WireError, ProgramIdentity, Peer) throws -> Void = { _, _, _ in },
    log: @escaping @Sendable (Gate.Facts, Gate.Decision, Peer) throws -> Void
  ) throws(Failure) {
    self.frameMilliseconds = frameMilliseconds
    self.pinning = pinning
    guard let wake = EventNotifier() else { throw .system("eventfd", errno) }
    self.wake = wake
    lock = try Self.lock(lockPath)
    switch place {
    case .path(let path):
      let own = try OwnSocket(at: path)
      (self.own, listener) = (own, own.descriptor)
      given = nil
    case .listening(let descriptor):
      (own, listener) = (nil, descriptor)
      given = OwnedDescriptor(descriptor)
    }
    if let name = Self.name(of: listener) { lock.publish(socket: name) }
    shared = Conversation.SharedState(
      vault: vault, programs: programs, administration: administration, user: user, log: log, logFault: logFault,
      end: { wake.call() },
      questions: questions)
  }

  private static func lock(_ path: String) throws(Failure) -> AgentLock {
    do throws(StorageError) {
      return try AgentLock(at: path)
    } catch {
      throw error.code == .busy ? .running : .lock(error)
    }
  }

  /// - Returns: nil if it has none.
  private static func name(of listener: Int32) -> String? {
    var name = [CChar](repeating: 0, count: 128)
    guard unsafe coffer_local_own_name(listener, &name, name.count) == 0 else { return nil }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  // MARK: Serving

  /// Until `end`, or until its own socket is gone. The thread that calls it serves; each connection has its own.
  ///
  /// A request that is being served has a moment to end. A key derivation, or a file of any length, may
  /// take longer: that is left behind, and the process is to end.
  package func run() {
    var entries = [
      pollfd(fd: listener, events: Int16(POLLIN), revents: 0), pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: own?.watch ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    // Also before the first event: the socket may have gone before the watch was there.
    while hasSocket {
      _ = unsafe poll(&entries, 3, -1)
      if entries[1].revents != 0 { break }
      if entries[2].revents != 0 { own?.clearWatch() }
      guard entries[0].revents != 0 else { continue }
      if let connection = OwnedDescriptor(coffer_accept(listener)) {
        welcome(connection)
      } else if errno == EMFILE || errno == ENFILE || errno == ENOMEM {
        // No connection can be accepted now. One that ends frees a descriptor.
        _ = poll(nil, 0, 10)
      }
    }
    own?.end()
    connections.withLock { connections in
      connections.isEnding = true
      for descriptor in connections.descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
    // A client's program may lie on a file system of its own that does not answer: that keeps its thread, and not the agent.
    let deadline = AgentVault.clock() + Self.endMilliseconds
    while connections.withLock({ !$0.descriptors.isEmpty }), AgentVault.clock() < deadline { _ = poll(nil, 0, 1) }
  }

  /// How long the end may take.
  private static let endMilliseconds: Int64 = 3000

  /// Whether it can be reached: also where the directory above that of the socket was removed or replaced.
  package var hasSocket: Bool { own?.isThere ?? true }

  /// From any thread. `run` returns when the last connection has ended.
  package func end() {
    wake.call()
  }

  private func welcome(_ connection: consuming OwnedDescriptor) {
    let number = connection.number
    guard let peer = try? Peer(of: number, pinning: pinning), peer.user == shared.user || peer.user == 0,
      admit(number, peer.process)
    else { return }
    let channel = FrameChannel(
      connection, sender: peer.process, frameMilliseconds: frameMilliseconds, largeFrames: largeFrames)
    let isStarted = DetachedThread.start("coffer-client") { [self] in
      var conversation = Conversation(channel, peer, shared) { [self] in
        dismiss(number, peer.process)
      }
      conversation.run()
    }
    if !isStarted { dismiss(number, peer.process) }
    // Open until here: see `dismiss`.
    withExtendedLifetime(channel) {}
  }

  private func admit(_ connection: Int32, _ process: Int32) -> Bool {
    connections.withLock { connections in
      guard !connections.isEnding, connections.descriptors.count < WireLimits.connections,
        connections.perProcess[process, default: 0] < WireLimits.connectionsPerProcess
      else { return false }
      connections.perProcess[process, default: 0] += 1
      connections.descriptors.insert(connection)
      return true
    }
  }

  /// Before the descriptor is closed: its number may be given to the next one at once.
  private func dismiss(_ connection: Int32, _ process: Int32) {
    connections.withLock { connections in
      connections.descriptors.remove(connection)
      let left = connections.perProcess[process, default: 1] - 1
      connections.perProcess[process] = left > 0 ? left : nil
    }
  }
}
