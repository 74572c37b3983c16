/// A message of protobuf that is being written: only the forms that etcd's calls need.
struct MessageWriter {
  private(set) var bytes: [UInt8] = []

  /// Always written, also zero: within a `oneof` zero is a value.
  mutating func integer(_ field: UInt64, _ value: UInt64) {
    variable(field << 3)
    variable(value)
  }

  mutating func data(_ field: UInt64, _ value: [UInt8]) {
    variable(field << 3 | 2)
    variable(UInt64(value.count))
    bytes += value
  }

  private mutating func variable(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}

/// The fields of a message of protobuf, in their order. It may be anybody's.
struct MessageReader {
  enum Value {
    case integer(UInt64)
    case data(ArraySlice<UInt8>)
    /// No field that is read here has this form.
    case other
  }

  struct Malformed: Error {}

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// - Returns: nil at the end.
  mutating func next() throws(Malformed) -> (field: UInt64, value: Value)? {
    guard !rest.isEmpty else { return nil }
    let key = try variable()
    guard key >> 3 != 0 else { throw Malformed() }
    switch key & 7 {
    case 0: return (key >> 3, .integer(try variable()))
    case 1:
      _ = try take(8)
      return (key >> 3, .other)
    case 2: return (key >> 3, .data(try take(variable())))
    case 5:
      _ = try take(4)
      return (key >> 3, .other)
    default: throw Malformed()
    }
  }

  private mutating func take(_ count: UInt64) throws(Malformed) -> ArraySlice<UInt8> {
    guard count <= UInt64(rest.count) else { throw Malformed() }
    defer { rest = rest.dropFirst(Int(count)) }
    return rest.prefix(Int(count))
  }

  private mutating func variable() throws(Malformed) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      guard let byte = rest.popFirst() else { throw Malformed() }
      guard shift < 63 || byte <= 1 else { throw Malformed() }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
    }
    throw Malformed()
  }
}
