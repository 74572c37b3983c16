import Glibc

/// Where a user's data lies: under `COFFER_HOME` if that is set, else as the XDG base directory specification says.
///
/// Nothing is made by asking. Immutable.
public struct Places: Sendable, Equatable {
  /// The vault file.
  public let vault: String
  /// The directory for what belongs to this machine: anchors, the device key.
  public let state: String
  /// The directory for sockets. Nil where the system gave none: there is no safe place to fall back to.
  public let runtime: String?

  /// - Parameter environment: The value of a variable. An empty one counts as not set.
  /// - Throws: `relativePath` where `COFFER_HOME` is not absolute; `noHome` where no home directory is known.
  public init(environment: (String) -> String?) throws(StorageError) {
    func value(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }
    func absolute(_ name: String) -> String? { value(name).flatMap { $0.utf8.first == UInt8(ascii: "/") ? $0 : nil } }

    if let home = value("COFFER_HOME") {
      // To fall back would be to open another vault than the one that was meant.
      guard home.utf8.first == UInt8(ascii: "/") else { throw StorageError(.relativePath, "COFFER_HOME=\(home)") }
      vault = Self.join(home, "vault.coffer")
      state = Self.join(home, "state")
      runtime = Self.join(home, "run")
      return
    }
    let data = absolute("XDG_DATA_HOME")
    let state = absolute("XDG_STATE_HOME")
    var home = absolute("HOME") ?? ""
    if home.isEmpty, data == nil || state == nil { home = try Self.homeOfUser() }
    self.vault = Self.join(data ?? Self.join(home, ".local/share"), "coffer/vault.coffer")
    self.state = Self.join(state ?? Self.join(home, ".local/state"), "coffer")
    self.runtime = absolute("XDG_RUNTIME_DIR").map { Self.join($0, "coffer") }
  }

  /// The file for the anchor of a vault.
  /// - Parameter path: As `FileStore.path` gives it, so that all ways to write the path lead to one anchor.
  public func anchor(forVaultAt path: String) -> String {
    "\(state)/anchors/\(TemporaryName.hexadecimal(Self.fnv1a(path)))"
  }

  /// See `DeviceKeyFile`.
  public var deviceKey: String { "\(state)/device.key" }

  private static func join(_ directory: String, _ name: String) -> String {
    directory.utf8.last == UInt8(ascii: "/") ? directory + name : "\(directory)/\(name)"
  }

  /// A file name, nothing more: two paths that meet here would report each other's anchor as one of another vault.
  static func fnv1a(_ text: String) -> UInt64 {
    text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  private static func homeOfUser() throws(StorageError) -> String {
    var entry = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    let result = unsafe getpwuid_r(getuid(), &entry, &buffer, buffer.count, &found)
    guard result == 0, unsafe found != nil, let directory = unsafe entry.pw_dir else { throw StorageError(.noHome) }
    let home = unsafe String(cString: directory)
    guard home.utf8.first == UInt8(ascii: "/") else { throw StorageError(.noHome, home) }
    return home
  }
}
