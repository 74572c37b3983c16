internal import CLinux
internal import Glibc

/// Which pinentry is started, and with what in its environment.
package struct PinentryProgram: Sendable {
  /// Names another one, by its absolute path.
  package static let variable = "COFFER_PINENTRY"
  /// Where it is looked for. `PATH` is not: whoever starts an agent, or calls `coffer`, is not to say by a directory somewhere in front
  /// of a list which program sees the owner's passphrase.
  private static let directories = ["/usr/bin", "/usr/local/bin"]
  /// What a program that shows windows needs of the session it is in.
  private static let sessionVariables = ["HOME", "XDG_RUNTIME_DIR", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS"]

  package let path: String
  private let session: [String: String]

  /// - Parameter environment: A program with more rights than its caller gives one that says nothing.
  /// - Throws: `noProgram`.
  package init(environment: (String) -> String?) throws(PinentryError) {
    session = Self.sessionVariables.reduce(into: [:]) { $0[$1] = environment($1) }
    if let path = environment(Self.variable), !path.isEmpty {
      guard path.utf8.first == UInt8(ascii: "/") else { throw PinentryError(.noProgram, "\(Self.variable) is no absolute path") }
      guard unsafe access(path, X_OK) == 0 else { throw PinentryError(.noProgram, "\(Self.variable): cannot be run: \(path)") }
      self.path = path
      return
    }
    let found = Self.directories.map { $0 + "/pinentry" }.first { (path: String) in unsafe access(path, X_OK) == 0 }
    guard let found else { throw PinentryError(.noProgram, "no pinentry in \(Self.directories.joined(separator: ", "))") }
    path = found
  }

  /// The one that this process would start.
  /// - Throws: `noProgram`.
  package static func current() throws(PinentryError) -> PinentryProgram {
    try PinentryProgram { name in
      coffer_is_elevated() != 0 ? nil : unsafe getenv(name).map { unsafe String(cString: $0) }
    }
  }

  /// All that it finds there.
  func environment(at seat: Seat) -> [String: String] {
    // With a session's bus but no display, a pinentry for GNOME would show a window where nobody has said that somebody sits.
    var variables = seat.hasDisplay ? session : session.filter { $0.key == "HOME" }
    variables["PATH"] = "/usr/bin:/bin"
    variables["DISPLAY"] = seat.display
    variables["WAYLAND_DISPLAY"] = seat.wayland
    variables["LC_CTYPE"] = seat.characterType
    variables["TERM"] = seat.terminalType
    return variables
  }
}
