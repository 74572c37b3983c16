import CofferConsole
import CofferFiles
import Glibc
import SecretMemory

/// The session's message bus. `coffer-secrets` asks it, so that `coffer` starts without the library of systemd.
enum SessionBus {
  struct Owner {
    let process: UInt64
    /// Its path; its name alone, if the kernel hides the path.
    let program: String

    /// It hides its path, so that it may be that of another installation.
    var isHiddenOwn: Bool { program == SessionBus.name }
    var isOwn: Bool { isHiddenOwn || program.hasSuffix("/\(SessionBus.name)") }

    /// The kernel keeps 15 bytes of a name.
    private var isGnomeKeyring: Bool { Path.name(of: program).hasPrefix("gnome-keyring-d") }

    /// How it lets Coffer serve.
    var advice: String {
      let served = "note: \(program.escapingControls()), process \(process), serves until it ends\n"
      guard isGnomeKeyring else { return served }
      return served + """
        note: gnome-keyring starts with the session, unless both are turned off:
          systemctl --user mask --now gnome-keyring-daemon.service gnome-keyring-daemon.socket
          mkdir -p ~/.config/autostart; printf '[Desktop Entry]\\nHidden=true\\n' >~/.config/autostart/gnome-keyring-secrets.desktop

        """
    }
  }

  private static let name = "coffer-secrets"
  private static let longestAnswer = 1 << 13

  /// The path of `coffer-secrets`, without links.
  /// - Throws: other, if it was not installed.
  static func program() throws(Failure) -> String {
    for path in ProgramPlaces.internalProgram(name) where unsafe access(path, X_OK) == 0 {
      if let real = unsafe realpath(path, nil) {
        defer { unsafe free(real) }
        return unsafe String(cString: real)
      }
    }
    throw Failure(.other, "\(name) is missing", hint: "install Coffer again")
  }

  /// The process that serves the Secret Service; nil if there is none.
  /// - Throws: I/O, if there is no bus.
  static func owner() throws -> Owner? {
    let words = try ask("--owner").split(separator: "\n").first?.split(separator: " ", maxSplits: 1) ?? []
    guard words.count == 2, let process = UInt64(words[0]) else { return nil }
    return Owner(process: process, program: String(words[1]))
  }

  /// Has the bus read its files again, or says that it cannot.
  static func noteReload() throws {
    do {
      _ = try ask("--reload")
    } catch let failure as Failure where failure.status == .inputOutput {
      Descriptor.error.note("note: the message bus of the session does not answer: it reads the file when it starts\n")
    }
  }

  static let noBus = Failure(
    .inputOutput, "the message bus of the session does not answer", hint: "DBUS_SESSION_BUS_ADDRESS has its address")

  private static func ask(_ option: String) throws -> String {
    let outcome = try FilterProgram([program(), option]).run(Secret(count: 0), limit: longestAnswer)
    guard outcome.status == 0 else {
      throw noBus
    }
    return outcome.output.text
  }
}
