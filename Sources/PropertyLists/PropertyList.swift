/// Reading and writing property lists. Bytes come from files that anybody may have written, so every reader is bounded in depth,
/// size and time, and refuses instead of guessing.
public enum PropertyList {
  public enum Format: Sendable {
    case xml
    case binary
    /// The text form of NeXTSTEP: strings, data, arrays and dictionaries alone.
    case openStep
  }

  /// Levels of arrays and dictionaries. Far above what anybody stores, far below what ends a thread's stack.
  public static let maximumDepth = 512
  /// Bytes of a whole property list.
  public static let maximumByteCount = 64 << 20
  /// Values in all. A binary property list can name one value many times, and so describe more than memory holds.
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

  /// XML where it carries every value exactly, else binary.
  /// - Throws: `tooDeep`.
  public static func writeExactly(_ value: PropertyListValue) throws(PropertyListError) -> [UInt8] {
    do throws(PropertyListError) {
      return try XMLPropertyListWriter.write(value)
    } catch {
      guard error.code == .notRepresentable else { throw error }
      return try BinaryPropertyListWriter.write(value)
    }
  }
}

/// Reads a text byte by byte.
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

  /// Moves behind the next occurrence and returns what lies before it.
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

  /// For error messages.
  var place: String { "at byte \(position - bytes.startIndex)" }
}
