internal import CofferFiles
internal import Glibc

/// For whom standard output is meant.
package struct OutputStyle {
  package let isTerminal: Bool
  private let isColoured: Bool
  /// In columns; 80 if the terminal has none, as a serial line.
  package let width: Int

  package init(isTerminal: Bool, isColoured: Bool, width: Int = 80) {
    self.isTerminal = isTerminal
    self.isColoured = isColoured
    self.width = width
  }

  /// Looks at standard output, `NO_COLOR` (https://no-color.org) and `TERM`.
  package static func current() -> OutputStyle {
    let isTerminal = Descriptor.output.isTerminal
    return OutputStyle(
      isTerminal: isTerminal, isColoured: isTerminal && Environment["NO_COLOR"] == nil && Environment["TERM"] != "dumb",
      width: isTerminal ? columns(of: Descriptor.output.number) ?? 80 : 80)
  }

  /// Returns nil if the terminal does not tell.
  private static func columns(of terminal: Int32) -> Int? {
    var size = winsize()
    guard unsafe ioctl(terminal, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  package func bold(_ text: String) -> String {
    isColoured ? "\u{1B}[1m\(text)\u{1B}[0m" : text
  }
}
