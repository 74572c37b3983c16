import CofferConsole
import CofferFiles
import Glibc
import SecretMemory

/// The clipboard of a display, by the program that the display's users have for it.
enum Clipboard: String {
  case wayland, x11

  /// - Throws: other, if there is no display; not found, if its program is not there.
  static func current() throws(Failure) -> Clipboard {
    guard let clipboard = isSet("WAYLAND_DISPLAY") ? Clipboard.wayland : isSet("DISPLAY") ? .x11 : nil else {
      throw Failure(.other, "clipboard: needs a display", hint: "--osc52 asks the terminal to copy")
    }
    for program in Set([clipboard.copying[0], clipboard.pasting[0]]).sorted() where !FilterProgram.isThere(program) {
      throw Failure(
        .notFound, "\(program): not found, and copies to the clipboard", hint: "apt install \(clipboard.debianPackage)")
    }
    return clipboard
  }

  private static func isSet(_ variable: String) -> Bool { Environment[variable].map { !$0.isEmpty } ?? false }

  private var debianPackage: String { self == .wayland ? "wl-clipboard" : "xclip" }

  var copying: [String] { self == .wayland ? ["wl-copy"] : ["xclip", "-selection", "clipboard", "-in"] }
  private var pasting: [String] {
    self == .wayland ? ["wl-paste", "--no-newline"] : ["xclip", "-selection", "clipboard", "-out"]
  }
  private var clearing: [String] { self == .wayland ? ["wl-copy", "--clear"] : copying }

  /// Tells managers of clipboards not to keep a text. wl-copy has it since 2.3; xclip has none.
  private static let hint = "--sensitive"

  private func understandsHint() throws -> Bool {
    guard self == .wayland else { return false }
    let help = try FilterProgram([copying[0], "--help"]).run(Secret(count: 0), limit: Self.helpCount)
    return help.output.text.contains(Self.hint)
  }

  private static let helpCount = 1 << 14

  /// - Returns: Whether managers of clipboards were told not to keep it.
  /// - Throws: not found; I/O.
  func copy(_ text: borrowing Secret) throws -> Bool {
    let isHinted = try understandsHint()
    try run(copying + (isHinted ? [Self.hint] : []), text)
    if self == .x11, text.count > 0 { try waitUntilShown(text) }
    return isHinted
  }

  /// xclip ends before the display has what it copies, other than wl-copy. A script that pastes at once would get the former text.
  private func waitUntilShown(_ text: borrowing Secret) throws {
    let deadline = Deadline(milliseconds: Self.patience)
    while true {
      if let shown = try self.text(), shown.isEqual(to: text) { return }
      guard !deadline.hasPassed else {
        throw Failure(
          .inputOutput, "clipboard: another program has copied at this moment, or the display does not answer",
          hint: "the same command again")
      }
      usleep(Self.pause)
    }
  }

  /// In milliseconds.
  private static let patience = 10_000
  /// Between two looks, in microseconds.
  private static let pause: UInt32 = 10_000

  private func run(_ words: [String], _ text: borrowing Secret) throws {
    let outcome = try FilterProgram(words).run(text)
    guard outcome.status != 0 else { return }
    throw Failure(
      .inputOutput,
      outcome.status == nil ? "\(words[0]): does not end" : "\(words[0]): has failed, and the clipboard is as it was",
      hint: "\(words[0]) must reach the display; --osc52 asks the terminal to copy")
  }

  /// The text that is there. nil if there is none, or it is longer than any that was copied.
  /// - Throws: not found; as `Secret(count:)`.
  func text() throws -> Secret? {
    let outcome = try FilterProgram(pasting).run(Secret(count: 0), limit: FilterProgram.longestInput + 1)
    guard outcome.status == 0, outcome.output.count <= FilterProgram.longestInput else { return nil }
    return try outcome.output.duplicate()
  }

  /// - Throws: as `copy`.
  func clear() throws { try run(clearing, Secret(count: 0)) }
}
