/// The requests of `etcdserverpb` that the engine makes, as bytes.
enum EtcdRequest {
  /// A test of a transaction: whether a key is there.
  struct Condition {
    let key: [UInt8]
    let isThere: Bool

    /// `Compare`: its create_revision is 0 if there is no such key.
    var bytes: [UInt8] {
      var message = MessageWriter()
      message.integer(1, isThere ? 3 : 0)
      message.integer(2, 1)
      message.data(3, key)
      message.integer(5, 0)
      return message.bytes
    }
  }

  /// Linearizable, and ascending by the key.
  static func range(_ key: [UInt8], to end: [UInt8] = [], limit: Int = 0, isOfKeysOnly: Bool = false) -> [UInt8] {
    var message = MessageWriter()
    message.data(1, key)
    if !end.isEmpty { message.data(2, end) }
    if limit > 0 { message.integer(3, UInt64(limit)) }
    if isOfKeysOnly { message.integer(8, 1) }
    return message.bytes
  }

  static func deletion(_ key: [UInt8], to end: [UInt8]) -> [UInt8] {
    var message = MessageWriter()
    message.data(1, key)
    message.data(2, end)
    return message.bytes
  }

  /// Puts a value if all conditions hold; else tells which of some keys are there.
  static func put(_ key: [UInt8], _ value: [UInt8], if conditions: [Condition], else others: [[UInt8]]) -> [UInt8] {
    var message = MessageWriter()
    for condition in conditions { message.data(1, condition.bytes) }
    var put = MessageWriter()
    put.data(1, key)
    put.data(2, value)
    message.data(2, operation(2, put.bytes))
    for other in others { message.data(3, operation(1, range(other, isOfKeysOnly: true))) }
    return message.bytes
  }

  /// `WatchRequest`: of what is put from now on. A revision that was seen may lie ahead of a cluster that was put back.
  static func watch(_ key: [UInt8], to end: [UInt8]) -> [UInt8] {
    var message = MessageWriter()
    message.data(1, key)
    message.data(2, end)
    // Without deletions.
    message.data(5, [1])
    return operation(1, message.bytes)
  }

  private static func operation(_ field: UInt64, _ bytes: [UInt8]) -> [UInt8] {
    var message = MessageWriter()
    message.data(field, bytes)
    return message.bytes
  }
}

/// `RangeResponse`.
struct RangeAnswer {
  private(set) var pairs: [(key: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] = []
  private(set) var hasMore = false

  init(_ bytes: ArraySlice<UInt8>) throws(MessageReader.Malformed) {
    var reader = MessageReader(bytes)
    while let (field, value) = try reader.next() {
      switch (field, value) {
      case (2, .data(let pair)): pairs.append(try Self.pair(pair))
      case (3, .integer(let more)): hasMore = more != 0
      default: break
      }
    }
  }

  private static func pair(
    _ bytes: ArraySlice<UInt8>
  ) throws(MessageReader.Malformed) -> (key: ArraySlice<UInt8>, value: ArraySlice<UInt8>) {
    var pair: (key: ArraySlice<UInt8>, value: ArraySlice<UInt8>) = ([], [])
    var reader = MessageReader(bytes)
    while let (field, value) = try reader.next() {
      switch (field, value) {
      case (1, .data(let key)): pair.key = key
      case (5, .data(let value)): pair.value = value
      default: break
      }
    }
    return pair
  }
}

/// `TxnResponse` to `EtcdRequest.put`.
struct PutAnswer {
  private(set) var isDone = false
  /// For each of the other keys, whether it is there.
  private(set) var others: [Bool] = []

  init(_ bytes: ArraySlice<UInt8>) throws(MessageReader.Malformed) {
    var reader = MessageReader(bytes)
    while let (field, value) = try reader.next() {
      switch (field, value) {
      case (2, .integer(let succeeded)): isDone = succeeded != 0
      case (3, .data(let operation)):
        var reader = MessageReader(operation)
        while let (field, value) = try reader.next() {
          if field == 1, case .data(let range) = value { others.append(try !RangeAnswer(range).pairs.isEmpty) }
        }
      default: break
      }
    }
  }
}
