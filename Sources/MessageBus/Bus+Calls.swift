import CSystemd
import Glibc

/// Calls of methods of other programs, for a program that serves nothing itself and may wait.
extension Bus {
  /// As long as clients wait by default.
  private static let answerSeconds: UInt64 = 25

  /// - Throws: `BusError` of the other program, or one that libsystemd gives to an answer that is late or does not come; `Failure`.
  package func call(
    _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [Value] = []
  ) throws -> [Value] {
    var pointer: OpaquePointer?
    try Self.check(unsafe sd_bus_message_new_method_call(bus, &pointer, destination, path, interface, member), member)
    guard let pointer = unsafe pointer else { throw Failure(what: member, number: EIO) }
    let message = unsafe Message(owning: pointer)
    try message.append(arguments)
    var error = unsafe sd_bus_error()
    var answer: OpaquePointer?
    defer { unsafe sd_bus_error_free(&error) }
    let result = unsafe sd_bus_call(bus, message.pointer, Self.answerSeconds * 1_000_000, &error, &answer)
    if result < 0, let name = unsafe error.name { throw BusError(unsafe Message.text(name), unsafe Message.text(error.message)) }
    try Self.check(result, member)
    guard let answer = unsafe answer else { throw Failure(what: member, number: EIO) }
    return try unsafe Message(owning: answer).body()
  }

  /// The name of the connection of the program that has a name, which no other program gets; nil if there is none.
  package func uniqueOwner(of name: String) throws -> String? {
    do {
      let answer = try call(Self.daemon, "/org/freedesktop/DBus", Self.daemon, "GetNameOwner", [.text(name)])
      guard case .text(let owner)? = answer.first else { return nil }
      return owner
    } catch let error as BusError where error.name == Self.daemon + ".Error.NameHasNoOwner" {
      return nil
    }
  }

  /// Waits for signals of a program.
  /// - Parameters:
  ///   - begin: Runs once they are listened for.
  ///   - body: Gets the content of each, or nil if the program has gone; the wait ends if it returns a value.
  /// - Throws: `Failure`; what the bodies throw.
  package func wait<Result>(
    for member: String, at path: String, _ interface: String, of sender: String, begin: () throws -> Void,
    _ body: ([Value]?) throws -> Result?
  ) throws -> Result {
    var heard: [[Value]?] = []
    let slots = Heard { heard.append($0) }
    let object = unsafe Unmanaged.passUnretained(slots).toOpaque()
    for (from, place, type, name) in [
      (sender, path, interface, member), (Self.daemon, "/org/freedesktop/DBus", Self.daemon, "NameOwnerChanged"),
    ] {
      var slot: OpaquePointer?
      try Self.check(
        unsafe sd_bus_match_signal(
          bus, &slot, from, place, type, name,
          { message, object, _ in
            guard let message = unsafe message, let object = unsafe object else { return 0 }
            unsafe Unmanaged<Heard>.fromOpaque(object).takeUnretainedValue().take(Message(message))
            return 0
          }, object), name)
      unsafe slots.slots.append(slot!)
    }
    slots.sender = sender
    return try withExtendedLifetime(slots) {
      try begin()
      while true {
        while !heard.isEmpty { if let result = try body(heard.removeFirst()) { return result } }
        guard try Self.check(unsafe sd_bus_process(bus, nil), member) == 0, heard.isEmpty else { continue }
        try Self.check(unsafe sd_bus_wait(bus, .max), member)
      }
    }
  }

  @safe private final class Heard {
    var slots: [OpaquePointer] = unsafe []
    var sender = ""
    private let body: ([Value]?) -> Void

    init(_ body: @escaping ([Value]?) -> Void) { self.body = body }

    deinit { while let slot = unsafe slots.popLast() { unsafe sd_bus_slot_unref(slot) } }

    func take(_ message: Message) {
      let content = try? message.body()
      guard message.sender == Bus.daemon else { return body(content ?? []) }
      if case .text(sender)? = content?.first, case .text("")? = content?.last { body(nil) }
    }
  }
}
