internal import CLinux
internal import Glibc
package import VaultCore

/// Where a person sits who can be asked: a display, a terminal, or both.
package struct Seat: Equatable, Sendable {
  /// The longest of its texts. A display has a few characters; names of terminals are paths in /dev.
  package static let maximumByteCount = 255
  /// The names of its fields where it is sent.
  package static let fieldNames = ["display", "wayland", "terminal", "terminal-type", "lc-ctype"]

  /// Each as a variable of the environment has it, by the name of its field.
  private var texts: [String: String] = [:]

  package var display: String? { texts["display"] }
  package var wayland: String? { texts["wayland"] }
  /// The path of a terminal.
  package var terminal: String? { texts["terminal"] }
  package var terminalType: String? { texts["terminal-type"] }
  package var characterType: String? { texts["lc-ctype"] }

  /// Whether something can be shown.
  package var isKnown: Bool { hasDisplay || terminal != nil }
  package var hasDisplay: Bool { display != nil || wayland != nil }

  // MARK: Where this process is

  /// What the environment says of displays, and a terminal if one is given.
  package init(environment: (String) -> String?, terminal: String? = nil) {
    let characterType = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap(environment).first { !$0.isEmpty }
    set("display", environment("DISPLAY"))
    set("wayland", environment("WAYLAND_DISPLAY"))
    set("terminal", terminal)
    set("terminal-type", terminal == nil ? nil : environment("TERM"))
    set("lc-ctype", characterType)
  }

  /// Of this process. With more rights than its caller it believes none of the caller's variables.
  package static var current: Seat {
    Seat(
      environment: { name in coffer_is_elevated() != 0 ? nil : unsafe getenv(name).map { unsafe String(cString: $0) } },
      terminal: ownTerminal)
  }

  /// The one that a standard descriptor leads to.
  private static var ownTerminal: String? {
    var buffer = [CChar](repeating: 0, count: maximumByteCount + 1)
    for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where unsafe ttyname_r(number, &buffer, buffer.count) == 0 {
      return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    return nil
  }

  private mutating func set(_ name: String, _ text: String?) {
    guard let text, Self.isAllowed(text) else { return }
    texts[name] = text
  }

  /// Nothing in it ends a line of the protocol or a variable.
  private static func isAllowed(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= maximumByteCount && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
  }

  // MARK: On its way

  package var fields: Attributes {
    var fields = Attributes()
    for (name, text) in texts { fields[name] = .text(text) }
    return fields
  }

  /// - Throws: `malformed` for a name, a type or a text that it does not have.
  package init(fields: Attributes) throws(PinentryError) {
    for (name, value) in fields {
      guard Self.fieldNames.contains(name), case .text(let text) = value, Self.isAllowed(text) else {
        throw PinentryError(.malformed, name)
      }
      texts[name] = text
    }
  }

  // MARK: Its parts

  /// The display alone: a pinentry that knows a terminal as well falls back to it. Nil if there is none.
  package var atDisplay: Seat? { hasDisplay ? without("terminal", "terminal-type") : nil }

  /// The terminal alone. Nil if there is none.
  package var atTerminal: Seat? { terminal == nil ? nil : without("display", "wayland") }

  private func without(_ names: String...) -> Seat {
    var seat = self
    for name in names { seat.texts[name] = nil }
    return seat
  }

  // MARK: Who sits there

  /// Without a terminal that is not this user's: somebody else may sit there by now.
  package func owned(by user: UInt32) -> Seat {
    guard let terminal, !Self.isTerminal(terminal, of: user) else { return self }
    return without("terminal", "terminal-type")
  }

  /// Drops what was typed at the terminal and has not been read.
  func dropInput() {
    guard let terminal else { return }
    let descriptor = unsafe open(terminal, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return }
    tcflush(descriptor, TCIFLUSH)
    close(descriptor)
  }

  private static func isTerminal(_ path: String, of user: UInt32) -> Bool {
    guard path.utf8.starts(with: "/dev/".utf8) else { return false }
    let descriptor = unsafe open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return false }
    return status.st_mode & S_IFMT == S_IFCHR && status.st_uid == user && isatty(descriptor) == 1
  }
}
