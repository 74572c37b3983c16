/// The name of a domain that is safe as a file's name: `com.example.app`, `NSGlobalDomain`.
public struct DomainName: Hashable, Sendable {
  /// The name as given; `NSGlobalDomain` for the global domain.
  public let name: String
  /// The start of the names of the domain's files.
  package let fileName: String

  /// `NSGlobalDomain`.
  public static let global = DomainName(name: "NSGlobalDomain", fileName: ".GlobalPreferences")

  private init(name: String, fileName: String) {
    self.name = name
    self.fileName = fileName
  }

  /// - Throws: `unsafeName` if the name is empty, longer than 200 bytes, contains a slash or a control character, or starts with
  ///   a dot.
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
    // U+0080 to U+009F are control characters too, which some terminals obey.
    guard name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) && $0 != "/" }) else {
      throw PreferenceError(.unsafeName, "\(name) holds a slash or a control character")
    }
    self.init(name: name, fileName: name)
  }

  /// The same domain, for this machine only.
  package func onHost(_ host: String) -> DomainName {
    DomainName(name: name, fileName: "\(fileName).\(host)")
  }

  public static func == (left: DomainName, right: DomainName) -> Bool { left.fileName.utf8.elementsEqual(right.fileName.utf8) }
  public func hash(into hasher: inout Hasher) { for byte in fileName.utf8 { hasher.combine(byte) } }
}
