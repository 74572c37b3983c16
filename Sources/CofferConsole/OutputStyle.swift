internal import CofferFiles

/// For whom standard output is meant.
package struct OutputStyle {
  package let isTerminal: Bool
  private let isColoured: Bool

  /// Looks at standard output, `NO_COLOR` (https://no-color.org) and `TERM`.
  package static func current() -> OutputStyle {
    let isTerminal = Descriptor.output.isTerminal
    return OutputStyle(
      isTerminal: isTerminal, isColoured: isTerminal && Environment["NO_COLOR"] == nil && Environment["TERM"] != "dumb")
  }

  package func bold(_ text: String) -> String {
    isColoured ? "\u{1B}[1m\(text)\u{1B}[0m" : text
  }
}
