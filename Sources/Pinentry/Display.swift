internal import CofferFiles
internal import Glibc
package import VaultCore

/// The display or terminal, or both, at which a person can be asked.
package struct Display: Equatable, Sendable {
  /// The maximum length of each text, in bytes. A display has a few characters; names of terminals are paths in /dev.
  package static let maximumByteCount = 255
  /// The names of the fields in a request.
  package static let fieldNames = ["display", "wayland", "terminal", "terminal-type", "lc-ctype"]

  /// The values of the environment variables, by field name.
  private var texts: [String: String] = [:]

  package var x11: String? { texts["display"] }
  package var wayland: String? { texts["wayland"] }
  /// The path of a terminal.
  package var terminal: String? { texts["terminal"] }
  package var terminalType: String? { texts["terminal-type"] }
  package var characterType: String? { texts["lc-ctype"] }

  /// Whether a question can be shown.
  package var isKnown: Bool { hasDisplay || terminal != nil }
  package var hasDisplay: Bool { x11 != nil || wayland != nil }

  // MARK: The display of this process

  /// The displays that the environment names, and a terminal if one is given.
  package init(environment: (String) -> String?, terminal: String? = nil) {
    let characterType = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap(environment).first { !$0.isEmpty }
    set("display", environment("DISPLAY"))
    set("wayland", environment("WAYLAND_DISPLAY"))
    set("terminal", terminal)
    set("terminal-type", terminal == nil ? nil : environment("TERM"))
    set("lc-ctype", characterType)
  }

  /// The display of this process. In a program with more rights than its caller, such as a set-user-ID program, the environment
  /// is ignored.
  package static var current: Display {
    Display(environment: { Environment[$0] }, terminal: ownTerminal)
  }

  /// The terminal of a standard descriptor.
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

  /// Excludes characters that would end a line of the protocol or a variable.
  private static func isAllowed(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= maximumByteCount && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
  }

  // MARK: Encoding

  package var fields: Attributes {
    var fields = Attributes()
    for (name, text) in texts { fields[name] = .text(text) }
    return fields
  }

  /// - Throws: `malformed` if a name, a type or a text is not allowed.
  package init(fields: Attributes) throws(PinentryError) {
    for (name, value) in fields {
      guard Self.fieldNames.contains(name), case .text(let text) = value, Self.isAllowed(text) else {
        throw PinentryError(.malformed, name)
      }
      texts[name] = text
    }
  }

  // MARK: Parts

  /// The display without the terminal, to which a pinentry would fall back. nil if there is no display.
  package var atDisplay: Display? { hasDisplay ? without("terminal", "terminal-type") : nil }

  /// The terminal without the display. nil if there is no terminal.
  package var atTerminal: Display? { terminal == nil ? nil : without("display", "wayland") }

  private func without(_ names: String...) -> Display {
    var display = self
    for name in names { display.texts[name] = nil }
    return display
  }

  // MARK: The terminal's user

  /// Without the terminal if it does not belong to this user: another user may have opened it by now.
  package func owned(by user: UInt32) -> Display {
    guard let terminal, !Self.isTerminal(terminal, of: user) else { return self }
    return without("terminal", "terminal-type")
  }

  /// Discards input at the terminal that was not read yet.
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
