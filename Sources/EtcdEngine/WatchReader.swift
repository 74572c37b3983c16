/// The answers of a watch, `WatchResponse`, as they come, in parts. They may be anybody's, and nothing is kept of a long one.
struct WatchReader {
  enum Event: Equatable { case begin, entry, end }

  /// In bytes: an answer that is longer has an entry. Those without one have a header, numbers, and the reason of an end.
  private static let limit = 1024

  /// The beginning of the frame: a byte 0, and the length of the message.
  private var head: [UInt8] = []
  private(set) var message: [UInt8] = []
  /// The bytes of the message that are still to come.
  private var left = 0
  private var isLong = false

  /// - Throws: `Malformed`.
  mutating func take(_ part: some Collection<UInt8>) throws(MessageReader.Malformed) -> [Event] {
    var events: [Event] = []
    var rest = part[...]
    while !rest.isEmpty {
      if head.count < 5 {
        let count = min(5 - head.count, rest.count)
        head += rest.prefix(count)
        rest = rest.dropFirst(count)
        guard head.count == 5 else { break }
        guard head[0] == 0 else { throw MessageReader.Malformed() }
        left = head[1...].reduce(0) { $0 << 8 | Int($1) }
        isLong = left > Self.limit
      }
      let count = min(left, rest.count)
      if !isLong { message += rest.prefix(count) }
      rest = rest.dropFirst(count)
      left -= count
      guard left == 0 else { break }
      events += try isLong ? [.entry] : Self.events(of: message[...])
      (head, message) = ([], [])
    }
    return events
  }

  private static func events(of message: ArraySlice<UInt8>) throws(MessageReader.Malformed) -> [Event] {
    var events: [Event] = []
    var reader = MessageReader(message)
    while let (field, value) = try reader.next() {
      switch (field, value) {
      case (3, .integer(1...)): events.append(.begin)
      // Begun and ended at once, if the role does not allow it.
      case (4, .integer(1...)): return [.end]
      case (11, .data): events.append(.entry)
      default: break
      }
    }
    return events
  }
}
