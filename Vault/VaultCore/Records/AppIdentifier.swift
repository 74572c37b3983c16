public import SecretMemory

/// The name that a team gives an app, in reverse DNS notation: `com.example.editor`. It is a file name as well.
public struct AppIdentifier: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// In bytes.
  public static let maximumByteCount = 155

  /// The identifier as text.
  public let text: String

  public var description: String { text }

  /// - Throws: `manifestIdentifier`: not two or more parts of letters, digits and `-`, separated by dots; a part that begins or ends
  ///   with `-`; too long.
  public init(_ text: String) throws(VaultError) {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard text.utf8.count <= Self.maximumByteCount, parts.count >= 2, parts.allSatisfy(Self.isPart) else {
      throw VaultError(.manifestIdentifier, "\(text.utf8.count <= 400 ? text : "…"): such as com.example.editor")
    }
    self.text = text
  }

  private static func isPart(_ part: Substring.UTF8View) -> Bool {
    let hyphen = UInt8(ascii: "-")
    guard let first = part.first, let last = part.last, first != hyphen, last != hyphen else { return false }
    return part.allSatisfy { byte in
      let letter = byte | 0x20
      return UInt8(ascii: "a")...UInt8(ascii: "z") ~= letter || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == hyphen
    }
  }

  public static func < (left: AppIdentifier, right: AppIdentifier) -> Bool { left.text.order(right.text) < 0 }
}
