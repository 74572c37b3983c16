internal import AppContainers
import CofferFiles
internal import Foundation

/// A kind as a file name: letters, digits and `-` are unchanged, every other byte is `%` and two digits, followed by `.kind`.
struct KindName: Hashable, Sendable {
  private static let suffix = Array(".kind".utf8)

  let kind: String
  let file: FileName

  /// - Throws: `kindNotAllowed`.
  init(_ kind: String) throws(WidgetError) {
    // Canonically equivalent strings, which are equal in Swift, are the same kind.
    let canonical = kind.precomposedStringWithCanonicalMapping
    let bytes = canonical.utf8.flatMap { byte in Self.isPlain(byte) ? [byte] : Self.escaped(byte) }
    do throws(FileError) {
      guard !bytes.isEmpty else { throw FileError(.nameNotAllowed, "an empty kind") }
      file = try FileName(bytes: bytes + Self.suffix)
    } catch {
      throw WidgetError(.kindNotAllowed, "a kind must not be empty, nor longer than the name of a file: \(kind.prefix(300))")
    }
    self.kind = canonical
  }

  /// Returns nil if the file name is not that of a kind.
  init?(_ file: FileName) {
    guard file.bytes.suffix(Self.suffix.count) == Self.suffix[...] else { return nil }
    let text = String(decoding: file.bytes.dropLast(Self.suffix.count), as: UTF8.self)
    // Only one spelling of a kind is valid as a file name.
    guard let kind = text.removingPercentEncoding, let name = try? KindName(kind), name.file == file else { return nil }
    self = name
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "-"):
      true
    default: false
    }
  }

  private static func escaped(_ byte: UInt8) -> [UInt8] {
    let digits = Array("0123456789ABCDEF".utf8)
    return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
  }
}
