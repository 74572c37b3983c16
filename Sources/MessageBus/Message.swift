import CSystemd
import CofferFiles
import Glibc
import SecretMemory

/// One message of sd-bus. For the thread of its bus alone.
@safe final class Message {
  /// Elements of one message. The bus passes messages of 128 MiB.
  static let maximumCount = 65_536
  /// Bytes of one array: the largest secret of a vault, and a block of padding.
  static let maximumByteCount = 1 << 20 | 32
  /// Bytes of the texts of one message: twice what the attributes of an item may have.
  static let maximumTextByteCount = 16 << 20

  let pointer: OpaquePointer
  private var count = 0
  private var hasDescriptor = false
  /// The bytes that were read.
  private(set) var size = Size()
  private var limit = Size()

  /// The bytes of a content.
  struct Size: Equatable {
    /// Those of arrays, which are in locked memory.
    var arrays = 0
    var texts = 0

    static func - (left: Size, right: Size) -> Size { Size(arrays: left.arrays - right.arrays, texts: left.texts - right.texts) }

    static func += (left: inout Size, right: Size) {
      left.arrays += right.arrays
      left.texts += right.texts
    }
  }

  /// - Parameter pointer: A reference that this object drops.
  init(owning pointer: OpaquePointer) { unsafe self.pointer = unsafe pointer }

  /// Keeps another reference.
  convenience init(_ pointer: OpaquePointer) { unsafe self.init(owning: sd_bus_message_ref(pointer)) }

  deinit { unsafe sd_bus_message_unref(pointer) }

  var expectsReply: Bool { unsafe sd_bus_message_get_expect_reply(pointer) > 0 }

  static func text(_ text: UnsafePointer<CChar>?) -> String { unsafe text.map { unsafe String(cString: $0) } ?? "" }

  /// The unique name of the program that has sent it.
  var sender: String { unsafe Self.text(sd_bus_message_get_sender(pointer)) }

  /// The content. sd-bus erases that of the message when it is freed.
  /// - Parameter limit: The bytes that the calls of its sender may have besides.
  /// - Throws: `BusError`: `limitsExceeded`, `invalidArguments`.
  func body(limit: Size = Size(arrays: .max, texts: .max)) throws -> [Value] {
    self.limit = limit
    _ = unsafe sd_bus_message_sensitive(pointer)
    return try values()
  }

  // MARK: Reading

  private func check(_ result: Int32) throws(BusError) {
    guard result >= 0 else { throw .invalidArguments("the message is malformed") }
  }

  private func values() throws -> [Value] {
    var values: [Value] = []
    while let value = try value() { values.append(value) }
    return values
  }

  /// Returns nil at the end of a container.
  private func value() throws -> Value? {
    var type: CChar = 0
    var contents: UnsafePointer<CChar>?
    let kind = unsafe sd_bus_message_peek_type(pointer, &type, &contents)
    try check(kind)
    guard kind > 0 else { return nil }
    count += 1
    guard count <= Self.maximumCount else { throw BusError.limitsExceeded("more than \(Self.maximumCount) values") }
    switch UInt8(bitPattern: type) {
    case UInt8(ascii: "s"): return .text(try text(type))
    case UInt8(ascii: "g"): return .text(try text(type))
    case UInt8(ascii: "o"): return .path(try text(type))
    case UInt8(ascii: "b"):
      var flag: Int32 = 0
      try check(unsafe sd_bus_message_read_basic(pointer, type, &flag))
      return .flag(flag != 0)
    case UInt8(ascii: "y"), UInt8(ascii: "n"), UInt8(ascii: "q"), UInt8(ascii: "i"), UInt8(ascii: "u"), UInt8(ascii: "x"),
      UInt8(ascii: "t"):
      // A narrower integer fills the first bytes, which are the low ones on the machines that Coffer runs on.
      var number: UInt64 = 0
      try check(unsafe sd_bus_message_read_basic(pointer, type, &number))
      return .number(UInt64(littleEndian: number))
    case UInt8(ascii: "h"): return .descriptor(try descriptor(type))
    case UInt8(ascii: "a"):
      let element = unsafe Self.text(contents)
      if element == "y" { return .bytes(try bytes()) }
      return .array(element: element, unsafe try inside(type, contents))
    case UInt8(ascii: "r"): return .structure(unsafe try inside(type, contents))
    case UInt8(ascii: "e"):
      let parts = unsafe try inside(type, contents)
      guard parts.count == 2 else { throw BusError.invalidArguments("an entry of a dictionary") }
      return .entry(parts[0], parts[1])
    case UInt8(ascii: "v"):
      let parts = unsafe try inside(type, contents)
      guard parts.count == 1 else { throw BusError.invalidArguments("a variant") }
      return .variant(parts[0])
    default: throw BusError.invalidArguments("a type that this service does not take")
    }
  }

  private func text(_ type: CChar) throws -> String {
    var text: UnsafePointer<CChar>?
    try check(unsafe sd_bus_message_read_basic(pointer, type, &text))
    let read = unsafe Self.text(text)
    let count = read.utf8.count
    guard size.texts + count <= Self.maximumTextByteCount else { throw BusError.limitsExceeded("the texts of the message") }
    guard count <= limit.texts - size.texts else { throw BusError.limitsExceeded("the texts of the calls that wait") }
    size.texts += count
    return read
  }

  /// No method takes more than one.
  private func descriptor(_ type: CChar) throws(BusError) -> Value.Descriptor {
    guard !hasDescriptor else { throw .limitsExceeded("more than one descriptor") }
    hasDescriptor = true
    var number: Int32 = -1
    try check(unsafe sd_bus_message_read_basic(pointer, type, &number))
    // The message has the one that was sent.
    guard let copy = OwnedDescriptor(fcntl(number, F_DUPFD_CLOEXEC, 3)) else { throw .limitsExceeded("the descriptors") }
    return Value.Descriptor(copy)
  }

  private func bytes() throws -> Value.Bytes {
    var start: UnsafeRawPointer?
    var count = 0
    try check(unsafe sd_bus_message_read_array(pointer, CChar(UInt8(ascii: "y")), &start, &count))
    guard count <= Self.maximumByteCount else { throw BusError.limitsExceeded("\(count) bytes") }
    guard count <= limit.arrays - size.arrays else { throw BusError.limitsExceeded("the secrets of the calls that wait") }
    size.arrays += count
    return Value.Bytes(try Secret(copying: unsafe RawSpan(_unsafeStart: start ?? UnsafeRawPointer(pointer), byteCount: count)))
  }

  private func inside(_ type: CChar, _ contents: UnsafePointer<CChar>?) throws -> [Value] {
    try check(unsafe sd_bus_message_enter_container(pointer, type, contents))
    let values = try values()
    try check(unsafe sd_bus_message_exit_container(pointer))
    return values
  }

  // MARK: Writing

  /// - Throws: `BusError` if there is no memory left.
  func append(_ values: [Value]) throws(BusError) {
    if values.contains(where: \.isSensitive) { _ = unsafe sd_bus_message_sensitive(pointer) }
    for value in values { try append(value) }
  }

  private func append(_ value: Value) throws(BusError) {
    switch value {
    case .text(let text): try append(text, "s")
    case .path(let path): try append(path, "o")
    case .flag(let flag):
      var number: Int32 = flag ? 1 : 0
      try written(unsafe sd_bus_message_append_basic(pointer, CChar(UInt8(ascii: "b")), &number))
    case .number(var number): try written(unsafe sd_bus_message_append_basic(pointer, CChar(UInt8(ascii: "t")), &number))
    case .word(var number): try written(unsafe sd_bus_message_append_basic(pointer, CChar(UInt8(ascii: "u")), &number))
    case .descriptor(let held):
      var number = held.descriptor.number
      try written(unsafe sd_bus_message_append_basic(pointer, CChar(UInt8(ascii: "h")), &number))
    case .bytes(let bytes):
      try written(
        bytes.secret.withBytes { span in
          unsafe span.withUnsafeBytes {
            unsafe sd_bus_message_append_array(pointer, CChar(UInt8(ascii: "y")), $0.baseAddress, $0.count)
          }
        })
    case .array(let element, let values): try container("a", element, values)
    case .entry(let key, let value): try container("e", key.signature + value.signature, [key, value])
    case .structure(let parts): try container("r", parts.map(\.signature).joined(), parts)
    case .variant(let value): try container("v", value.signature, [value])
    }
  }

  private func append(_ text: String, _ type: Unicode.Scalar) throws(BusError) {
    let type = CChar(UInt8(ascii: type))
    try written(unsafe text.withCString { unsafe sd_bus_message_append_basic(pointer, type, $0) })
  }

  private func container(_ type: Unicode.Scalar, _ contents: String, _ values: [Value]) throws(BusError) {
    try written(unsafe sd_bus_message_open_container(pointer, CChar(UInt8(ascii: type)), contents))
    for value in values { try append(value) }
    try written(unsafe sd_bus_message_close_container(pointer))
  }

  private func written(_ result: Int32) throws(BusError) {
    guard result >= 0 else { throw .failed("the reply cannot be written: \(-result)") }
  }
}
