import CSystemd
import CofferFiles
import Glibc

/// A call of a method, with its content.
package struct Call: Sendable {
  /// For the reply.
  package let number: UInt64
  /// The unique name of the caller.
  package let sender: String
  /// nil if it is not known.
  package let client: ClientProcess?
  /// The names that it has, of those that `Bus.follow` was called with.
  package let names: Set<String>
  package let path: String
  package let interface: String
  package let member: String
  package let body: Result<[Value], BusError>
}

/// A connection to the session's message bus, which serves the objects below one path. For one thread at a time; other threads send
/// through the outbox.
@safe package final class Bus: @unchecked Sendable {
  package struct Failure: Error {
    package let what: String
    /// An errno.
    package let number: Int32
  }

  /// Called for each call; the reply goes to the outbox.
  package var onCall: (@Sendable (Call) -> Void)?
  /// Called when all that has arrived was handed over, with whether the thread of the bus may carry out a call. Returns that call.
  package var onPause: (@Sendable (_ mayTake: Bool) -> (() -> Void)?)?
  /// Called with the unique name of a client that has gone.
  package var onDisconnect: (@Sendable (String) -> Void)?

  package let outbox: Outbox
  let bus: OpaquePointer
  private var clients: Clients?
  private var slots: [OpaquePointer] = unsafe []
  private var waiting: [UInt64: Message] = [:]
  /// The content of each program's calls that wait.
  private var held: [String: Message.Size] = [:]
  private var last: UInt64 = 0
  var hasEnded = false
  private var name = ""
  /// The unique names of the programs that have a name, or nothing, for each name that is followed.
  private var owners: [String: String] = [:]

  /// For each program: the memory that a process may lock is small, and the calls of one program leave room for others.
  private static let maximumHeld = Message.Size(
    arrays: 2 * Message.maximumByteCount, texts: 2 * Message.maximumTextByteCount)

  static let daemon = "org.freedesktop.DBus"

  /// - Throws: `Failure` if there is no bus.
  package init() throws(Failure) {
    guard let notifier = EventNotifier() else { throw Failure(what: "a descriptor", number: errno) }
    outbox = Outbox(notifier)
    var bus: OpaquePointer?
    try Self.check(unsafe sd_bus_open_user(&bus), "the session bus")
    guard let bus = unsafe bus else { throw Failure(what: "the session bus", number: EIO) }
    unsafe self.bus = unsafe bus
  }

  deinit {
    while let slot = unsafe slots.popLast() { unsafe sd_bus_slot_unref(slot) }
    waiting = [:]
    unsafe sd_bus_flush_close_unref(bus)
  }

  @discardableResult static func check(_ result: Int32, _ what: String) throws(Failure) -> Int32 {
    guard result >= 0 else { throw Failure(what: what, number: -result) }
    return result
  }

  // MARK: Serving

  /// Serves the objects at and below some paths, and learns when clients go.
  package func serve(_ paths: [String]) throws(Failure) {
    let isOfSystem = unsafe BusDaemon.isOfSystem(bus)
    clients = Clients(isOfSystem: isOfSystem) { [unowned self] name, body in unsafe Clients.ask(bus, name, body) }
    let object = unsafe Unmanaged.passUnretained(self).toOpaque()
    for path in paths {
      var slot: OpaquePointer?
      try Self.check(
        unsafe sd_bus_add_fallback(
          bus, &slot, path,
          { message, object, _ in
            guard let message = unsafe message, let object = unsafe object else { return 0 }
            return unsafe Unmanaged<Bus>.fromOpaque(object).takeUnretainedValue().received(message)
          }, object), path)
      unsafe slots.append(slot!)
    }
    for member in ["NameOwnerChanged", "NameLost"] {
      var slot: OpaquePointer?
      try Self.check(
        unsafe sd_bus_match_signal(
          bus, &slot, Self.daemon, "/org/freedesktop/DBus", Self.daemon, member,
          { message, object, _ in
            guard let message = unsafe message, let object = unsafe object else { return 0 }
            unsafe Unmanaged<Bus>.fromOpaque(object).takeUnretainedValue().heard(Message(message))
            return 0
          }, object), member)
      unsafe slots.append(slot!)
    }
  }

  /// From now on calls tell whether their client has this name. After `serve`.
  /// - Throws: `Failure`; `BusError` of the daemon.
  package func follow(_ name: String) throws { owners[name] = try uniqueOwner(of: name) ?? "" }

  /// The program does not queue for the name, and no other may take the name from it: that one would read secrets.
  /// - Returns: False if another program has the name.
  package func request(_ name: String, replacing: Bool) throws(Failure) -> Bool {
    let result = unsafe sd_bus_request_name(bus, name, replacing ? UInt64(SD_BUS_NAME_REPLACE_EXISTING) : 0)
    guard result != -EEXIST else { return false }
    try Self.check(result, name)
    self.name = name
    return true
  }

  private func received(_ pointer: OpaquePointer) -> Int32 {
    let message = unsafe Message(pointer)
    let interface = unsafe Message.text(sd_bus_message_get_interface(pointer))
    // sd-bus itself answers for the connection.
    guard interface != "org.freedesktop.DBus.Peer" else { return 0 }
    let sender = message.sender
    let body: Result<[Value], BusError>
    do {
      body = .success(try message.body(limit: Self.maximumHeld - held[sender, default: .init()]))
    } catch {
      body = .failure(error as? BusError ?? .limitsExceeded("no memory for the message"))
    }
    last += 1
    waiting[last] = message
    if message.size != .init() { held[sender, default: .init()] += message.size }
    let path = unsafe Message.text(sd_bus_message_get_path(pointer))
    let member = unsafe Message.text(sd_bus_message_get_member(pointer))
    let names = Set(owners.filter { $0.value == sender }.keys)
    clients?.identify(sender) { [self, number = last] found in
      switch found {
      case .failure(let error): outbox.reply(to: number, .failure(error))
      case .success(let client):
        onCall?(
          Call(
            number: number, sender: sender, client: client, names: names, path: path, interface: interface, member: member,
            body: body))
      }
    }
    return 1
  }

  private func heard(_ message: Message) {
    guard let body = try? message.body(), case .text(let name)? = body.first else { return }
    if owners[name] != nil, body.count > 1, case .text(let owner)? = body.last { owners[name] = owner }
    if body.count == 1 {
      if name == self.name { hasEnded = true }
    } else if case .text("") = body[body.count - 1] {
      clients?.hasGone(name)
      onDisconnect?(name)
    } else if name.hasPrefix(":") {
      clients?.hasCome(name)
    }
  }

  func send() {
    for entry in outbox.take() {
      switch entry {
      case .reply(let number, let result):
        guard let call = waiting.removeValue(forKey: number) else { continue }
        release(call.size, of: call.sender)
        guard call.expectsReply else { continue }
        reply(to: call, result)
      case .signal(let signal): send(signal)
      case .end: hasEnded = true
      }
    }
  }

  private func release(_ size: Message.Size, of sender: String) {
    guard let now = held[sender] else { return }
    held[sender] = now == size ? nil : now - size
  }

  private func reply(to call: Message, _ result: Result<[Value], BusError>) {
    do throws(BusError) {
      var pointer: OpaquePointer?
      guard unsafe sd_bus_message_new_method_return(call.pointer, &pointer) >= 0, let pointer = unsafe pointer else { return }
      let reply = unsafe Message(owning: pointer)
      try reply.append(try result.get())
      _ = unsafe sd_bus_send(bus, reply.pointer, nil)
    } catch {
      var failure = unsafe sd_bus_error()
      defer { unsafe sd_bus_error_free(&failure) }
      unsafe sd_bus_error_set(&failure, error.name, error.text)
      _ = unsafe sd_bus_reply_method_error(call.pointer, &failure)
    }
  }

  private func send(_ signal: Outbox.Signal) {
    var pointer: OpaquePointer?
    guard unsafe sd_bus_message_new_signal(bus, &pointer, signal.path, signal.interface, signal.member) >= 0,
      let pointer = unsafe pointer
    else { return }
    let message = unsafe Message(owning: pointer)
    guard (try? message.append(signal.body)) != nil else { return }
    if let destination = signal.destination { _ = unsafe sd_bus_message_set_destination(message.pointer, destination) }
    _ = unsafe sd_bus_send(bus, message.pointer, nil)
  }
}
