internal import SecretMemory

/// A text with references to secrets, such as a configuration file: `{{ coffer://GROUP/SERVICE/ACCOUNT }}`, and filters after `|`.
///
/// Braces around anything else are a part of the text, as other languages of templates have them.
package struct SecretText: Sendable {
  package enum Piece: Sendable {
    case text([UInt8])
    case placeholder(Placeholder)
  }

  package struct Placeholder: Sendable {
    /// As it was written.
    package let reference: String
    package let filters: [SecretFilter]
    /// Where it begins, in bytes.
    package let offset: Int
  }

  package static let scheme = Array("coffer://".utf8)

  package private(set) var pieces: [Piece] = []

  package var placeholders: [Placeholder] {
    pieces.compactMap { piece in
      guard case .placeholder(let placeholder) = piece else { return nil }
      return placeholder
    }
  }

  /// The text. nil if it has references.
  package var plain: [UInt8]? {
    guard pieces.count == 1, case .text(let bytes) = pieces[0] else { return nil }
    return bytes
  }

  /// A text that is taken as it is.
  package init(plain bytes: [UInt8]) { pieces = [.text(bytes)] }

  /// - Throws: `referenceNotText`.
  package init(reference bytes: [UInt8]) throws(TextError) {
    pieces = [.placeholder(try Self.placeholder(bytes[...], []))]
  }

  /// The value of a variable: a reference, or a text with some.
  package init(value bytes: [UInt8]) throws(TextError) {
    if bytes.starts(with: Self.scheme) { try self.init(reference: bytes) } else { try self.init(template: bytes) }
  }

  package init(template bytes: [UInt8]) throws(TextError) {
    var start = 0
    var next = 0
    while next + 1 < bytes.count {
      guard bytes[next] == Self.open, bytes[next + 1] == Self.open, let inside = Self.reference(after: next + 2, in: bytes) else {
        next += 1
        continue
      }
      let end = try Self.end(of: inside, from: next, in: bytes)
      pieces.append(.text(Array(bytes[start..<next])))
      pieces.append(.placeholder(try Self.parse(bytes[inside..<end], at: next)))
      (start, next) = (end + 2, end + 2)
    }
    pieces.append(.text(Array(bytes[start...])))
  }

  private static let open = UInt8(ascii: "{")
  private static let close = UInt8(ascii: "}")

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// Returns nil if something else than a reference follows the braces.
  private static func reference(after offset: Int, in bytes: [UInt8]) -> Int? {
    let start = bytes[offset...].firstIndex { !isBlank($0) } ?? bytes.count
    return bytes[start...].starts(with: scheme) ? start : nil
  }

  private static func end(of inside: Int, from begin: Int, in bytes: [UInt8]) throws(TextError) -> Int {
    var index = inside
    while index + 1 < bytes.count, bytes[index] != 0x0A {
      if bytes[index] == close, bytes[index + 1] == close { return index }
      index += 1
    }
    throw TextError(.placeholderOpen, at: begin)
  }

  private static func parse(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(TextError) -> Placeholder {
    let parts = bytes.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
    var filters: [SecretFilter] = []
    for part in parts.dropFirst() {
      let name = String(decoding: trimmed(part), as: UTF8.self)
      guard let filter = SecretFilter(rawValue: name) else { throw TextError(.filterUnknown, at: offset, name) }
      filters.append(filter)
    }
    return try placeholder(trimmed(parts[0]), filters, at: offset)
  }

  private static func placeholder(
    _ bytes: ArraySlice<UInt8>, _ filters: [SecretFilter], at offset: Int = 0
  ) throws(TextError) -> Placeholder {
    guard let reference = String(validating: bytes, as: UTF8.self) else { throw TextError(.referenceNotText, at: offset) }
    return Placeholder(reference: reference, filters: filters, offset: offset)
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = bytes.drop(while: isBlank)
    while let last = rest.last, isBlank(last) { rest.removeLast() }
    return rest
  }
}

extension SecretText {
  /// A piece with its value.
  package enum Value: Sendable {
    case text([UInt8])
    case secret(HeldSecret)

    package var count: Int {
      switch self {
      case .text(let bytes): bytes.count
      case .secret(let held): held.secret.count
      }
    }

    package func withBytes(_ body: (RawSpan) throws -> Void) rethrows {
      switch self {
      case .text(let bytes): try unsafe body(bytes.span.bytes)
      case .secret(let held): try held.secret.withBytes(body)
      }
    }
  }

  /// The text with the values of its references, which stay in locked memory.
  /// - Throws: what a filter throws, with the offset of its placeholder.
  package func resolved(_ secret: (String) throws -> HeldSecret) throws -> [Value] {
    try pieces.map { piece in
      switch piece {
      case .text(let bytes): return .text(bytes)
      case .placeholder(let placeholder):
        let value = try secret(placeholder.reference)
        return .secret(try placeholder.filters.isEmpty ? value : Self.filtered(value, placeholder))
      }
    }
  }

  private static func filtered(_ value: HeldSecret, _ placeholder: Placeholder) throws -> HeldSecret {
    var result = value
    for filter in placeholder.filters {
      do {
        result = HeldSecret(try filter.apply(to: result.secret))
      } catch let error as TextError {
        throw TextError(error.code, at: placeholder.offset, error.detail)
      }
    }
    return result
  }
}
