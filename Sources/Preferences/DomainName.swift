/// The name of a domain that is safe as a file's name: `com.example.app`, `NSGlobalDomain`.
public struct DomainName: Hashable, Sendable {
  /// As it was given; `NSGlobalDomain` for the global one.
  public let name: String
  /// What the files of the domain start with.
  package let fileName: String

  public static let global = DomainName(name: "NSGlobalDomain", fileName: ".GlobalPreferences")

  private init(name: String, fileName: String) {
    self.name = name
    self.fileName = fileName
  }

  /// - Throws: `unsafeName` for the empty name, names of more than 200 bytes, those with a slash or a control character, and those
  ///   that start with a dot.
  public init(_ name: String) throws(PreferenceError) {
    if name.utf8.elementsEqual(Self.global.name.utf8) {
      self = .global
      return
    }
    guard !name.isEmpty else { throw PreferenceError(.unsafeName, "the name is empty") }
    guard name.utf8.count <= PreferenceLimits.nameByteCount else {
      throw PreferenceError(.unsafeName, "\(name.utf8.count) bytes, \(PreferenceLimits.nameByteCount) are allowed")
    }
    guard name.utf8.first != UInt8(ascii: ".") else { throw PreferenceError(.unsafeName, "\(name) starts with a dot") }
    // Those from U+0080 to U+009F are control characters as well, and some terminals obey them.
    guard name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) && $0 != "/" }) else {
      throw PreferenceError(.unsafeName, "\(name) holds a slash or a control character")
    }
    self.init(name: name, fileName: name)
  }

  /// The same domain for this machine alone.
  package func onHost(_ host: String) -> DomainName {
    DomainName(name: name, fileName: "\(fileName).\(host)")
  }

  public static func == (left: DomainName, right: DomainName) -> Bool { left.fileName.utf8.elementsEqual(right.fileName.utf8) }
  public func hash(into hasher: inout Hasher) { for byte in fileName.utf8 { hasher.combine(byte) } }
}
