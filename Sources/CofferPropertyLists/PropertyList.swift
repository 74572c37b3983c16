/// Reading and writing property lists. The bytes may come from any source, so every reader limits depth, size and time, and
/// refuses invalid input instead of guessing.
public enum PropertyList {
  /// The format of a file.
  public enum Format: Sendable {
    /// XML 1.0, as Apple's tools write it.
    case xml
    /// The binary format `bplist00`.
    case binary
    /// The text format of NeXTSTEP, which has only strings, data, arrays and dictionaries.
    case openStep
  }

  /// The maximum number of nested arrays and dictionaries: far above actual use, far below the depth that overflows a thread's
  /// stack.
  public static let maximumDepth = 512
  /// The maximum size of a property list, in bytes.
  public static let maximumByteCount = 64 << 20
  /// The maximum number of values. A binary property list can reference one value many times, and so describe more than memory
  /// holds.
  public static let maximumValueCount = 4 << 20

  /// - Throws: `notAPropertyList`, `malformed`, `tooDeep`, `tooLarge`, `cyclic`.
  public static func read(_ bytes: [UInt8]) throws(PropertyListError) -> (value: PropertyListValue, format: Format) {
    guard bytes.count <= maximumByteCount else { throw PropertyListError(.tooLarge, "\(bytes.count) bytes") }
    if bytes.starts(with: BinaryPropertyList.magic) { return (try BinaryPropertyListReader.read(bytes), .binary) }
    var start = bytes[...]
    if start.starts(with: [0xEF, 0xBB, 0xBF]) { start = start.dropFirst(3) }
    let first = start.first { !TextScanner.isSpace($0) }
    guard let first else { throw PropertyListError(.notAPropertyList, "nothing but space") }
    // `<?xml`, `<!DOCTYPE`, `<plist` — but `<0fbd77>` is old-style data.
    if first == UInt8(ascii: "<"), XMLPropertyListReader.looksLikeXML(start) {
      return (try XMLPropertyListReader.read(start), .xml)
    }
    return (try OpenStepPropertyListReader.read(start), .openStep)
  }

  /// - Throws: `notRepresentable`, `tooDeep`.
  public static func write(_ value: PropertyListValue, _ format: Format) throws(PropertyListError) -> [UInt8] {
    switch format {
    case .xml: return try XMLPropertyListWriter.write(value)
    case .binary: return try BinaryPropertyListWriter.write(value)
    case .openStep: throw PropertyListError(.notRepresentable, "the old style is read only")
    }
  }

  /// Writes XML if it can represent every value exactly, else the binary format.
  /// - Throws: `tooDeep`.
  public static func writeExactly(_ value: PropertyListValue) throws(PropertyListError) -> [UInt8] {
    do throws(PropertyListError) {
      return try XMLPropertyListWriter.write(value, isExact: true)
    } catch {
      guard error.code == .notRepresentable else { throw error }
      return try BinaryPropertyListWriter.write(value)
    }
  }
}

/// Reads text byte by byte.
struct TextScanner {
  let bytes: ArraySlice<UInt8>
  var position: Int

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  var next: UInt8? { position < bytes.endIndex ? bytes[position] : nil }
  var isAtEnd: Bool { position >= bytes.endIndex }

  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  mutating func skipSpace() {
    while let byte = next, Self.isSpace(byte) { position += 1 }
  }

  func starts(with text: StaticString) -> Bool {
    unsafe bytes[position...].starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  mutating func take(_ text: StaticString) -> Bool {
    guard starts(with: text) else { return false }
    position += text.utf8CodeUnitCount
    return true
  }

  /// Returns the bytes before the next occurrence of `text`, and moves past it.
  mutating func take(upTo text: StaticString) -> ArraySlice<UInt8>? {
    var scanner = self
    while !scanner.isAtEnd {
      if scanner.starts(with: text) {
        let content = bytes[position..<scanner.position]
        position = scanner.position + text.utf8CodeUnitCount
        return content
      }
      scanner.position += 1
    }
    return nil
  }

  /// The position, for error messages.
  var place: String { "at byte \(position - bytes.startIndex)" }
}
