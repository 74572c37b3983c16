internal import CLinux
internal import CofferFiles
internal import Glibc

/// The directories of a user in which data lies: under `COFFER_HOME` if that is set, else as the XDG base directory
/// specification says. Nothing is made by asking.
///
/// A program of an app has directories of its own where that specification says. `COFFER_DATA_HOME` and `COFFER_STATE_HOME` lead
/// it to those of the user: the vault, and what was last seen of it, are the same for all.
///
/// A program with more rights than its caller, set-user-ID or with capabilities of its file, reads no variable, as
/// secure_getenv(3): the caller would choose by them the files that such a program reads and writes.
package struct UserDirectories: Sendable, Equatable {
  package enum Failure: Error, Equatable {
    /// `COFFER_HOME` is not absolute. To fall back would be to use other data than what was meant.
    case relativePath(String)
    /// No variable that counts and no entry of the user database names a home directory, or that entry a relative one.
    case noHome(String?)
  }

  package static let dataVariable = "COFFER_DATA_HOME"
  package static let stateVariable = "COFFER_STATE_HOME"

  private let coffer: String?
  private let ownData: String?
  private let ownState: String?
  private let data: String?
  private let state: String?
  private let configuration: String?
  private let home: String?
  /// The directory for sockets. nil if the system has set none: there is no safe alternative.
  package let runtime: String?

  /// - Parameters:
  ///   - environment: The value of a variable. An empty one counts as not set.
  ///   - isElevated: Whether the program has more rights than its caller.
  package init(isElevated: Bool = Environment.isElevated, environment: (String) -> String?) throws(Failure) {
    func value(_ name: String) -> String? { isElevated ? nil : environment(name).flatMap { $0.isEmpty ? nil : $0 } }
    // The specification: relative ones are to be ignored.
    func absolute(_ name: String) -> String? { value(name).flatMap { Self.isAbsolute($0) ? $0 : nil } }
    coffer = value("COFFER_HOME")
    if let coffer, !Self.isAbsolute(coffer) { throw .relativePath(coffer) }
    (ownData, ownState) = (absolute(Self.dataVariable), absolute(Self.stateVariable))
    data = absolute("XDG_DATA_HOME")
    state = absolute("XDG_STATE_HOME")
    configuration = absolute("XDG_CONFIG_HOME")
    home = absolute("HOME")
    runtime = coffer.map { Path.join($0, "run") } ?? absolute("XDG_RUNTIME_DIR").map { Path.join($0, "coffer") }
  }

  /// For what belongs to the user.
  package func dataDirectory() throws(Failure) -> String {
    if let coffer { return coffer }
    if let ownData { return ownData }
    return Path.join(try sharedData(), "coffer")
  }

  /// For what belongs to this machine.
  package func stateDirectory() throws(Failure) -> String {
    if let coffer { return Path.join(coffer, "state") }
    if let ownState { return ownState }
    if let state { return Path.join(state, "coffer") }
    return Path.join(try homeDirectory(), ".local/state/coffer")
  }

  /// The user's data directory of all programs, which `COFFER_HOME` does not move.
  package func sharedData() throws(Failure) -> String {
    if let data { return data }
    return Path.join(try homeDirectory(), ".local/share")
  }

  /// The user's configuration directory of other programs. nil if `COFFER_HOME` is set, which has no such directory.
  package func configurationDirectory() throws(Failure) -> String? {
    guard coffer == nil else { return nil }
    if let configuration { return configuration }
    return Path.join(try homeDirectory(), ".config")
  }

  /// The user's home directory, if it is known.
  package var knownHome: String? { try? homeDirectory() }

  /// The path of a directory without links, if it is there and belongs to the user.
  package static func realPathOfOwn(_ path: String) -> String? {
    guard let real = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(real) }
    var status = stat()
    guard unsafe stat(real, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else { return nil }
    return unsafe String(cString: real)
  }

  private static func isAbsolute(_ path: String) -> Bool { path.utf8.first == UInt8(ascii: "/") }

  /// The home directory of the effective user, who also owns the files that the program makes.
  private func homeDirectory() throws(Failure) -> String {
    if let home { return home }
    var entry = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    let result = unsafe getpwuid_r(geteuid(), &entry, &buffer, buffer.count, &found)
    guard result == 0, unsafe found != nil, let directory = unsafe entry.pw_dir else { throw .noHome(nil) }
    let home = unsafe String(cString: directory)
    guard Self.isAbsolute(home) else { throw .noHome(home) }
    return home
  }
}
