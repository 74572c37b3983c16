internal import CofferFiles
internal import Glibc

/// The pinentry to start, and its environment.
package struct PinentryProgram: Sendable {
  /// The variable with the absolute path of another pinentry.
  package static let variable = "COFFER_PINENTRY"
  /// The searched directories. `PATH` is not used: otherwise the environment in which an agent or `coffer` is started would choose
  /// which program reads the owner's passphrase.
  private static let directories = ["/usr/bin", "/usr/local/bin"]
  /// The variables of the desktop session that a program with windows needs.
  private static let sessionVariables = ["HOME", "XDG_RUNTIME_DIR", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS"]

  package let path: String
  private let session: [String: String]

  /// - Parameter environment: The value of a variable. In a program with more rights than its caller, it has to return nil.
  /// - Throws: `noProgram`.
  package init(environment: (String) -> String?) throws(PinentryError) {
    session = Self.sessionVariables.reduce(into: [:]) { $0[$1] = environment($1) }
    if let path = environment(Self.variable), !path.isEmpty {
      guard path.utf8.first == UInt8(ascii: "/") else {
        throw PinentryError(.noProgram, "\(Self.variable) is not an absolute path")
      }
      guard unsafe access(path, X_OK) == 0 else { throw PinentryError(.noProgram, "\(Self.variable): cannot be run: \(path)") }
      self.path = path
      return
    }
    let found = Self.directories.map { $0 + "/pinentry" }.first { (path: String) in unsafe access(path, X_OK) == 0 }
    guard let found else { throw PinentryError(.noProgram, "no pinentry in \(Self.directories.joined(separator: ", "))") }
    path = found
  }

  /// The program that this process would start.
  /// - Throws: `noProgram`.
  package static func current() throws(PinentryError) -> PinentryProgram {
    try PinentryProgram { Environment[$0] }
  }

  /// The whole environment of the pinentry.
  func environment(at display: Display) -> [String: String] {
    // With a session bus but no display, a pinentry for GNOME would show its window in a session where possibly no person is.
    var variables = display.hasDisplay ? session : session.filter { $0.key == "HOME" }
    variables["PATH"] = "/usr/bin:/bin"
    variables["DISPLAY"] = display.x11
    variables["WAYLAND_DISPLAY"] = display.wayland
    variables["LC_CTYPE"] = display.characterType
    variables["TERM"] = display.terminalType
    return variables
  }
}
