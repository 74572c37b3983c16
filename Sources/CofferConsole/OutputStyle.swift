internal import CLinux
internal import Glibc

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

/// One variable at a time, when it is needed. Set but empty counts as not set, and none counts where this program has more rights than
/// whoever started it.
package enum Environment {
  package static subscript(name: String) -> String? {
    guard coffer_is_elevated() == 0, let value = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: value)
    return text.isEmpty ? nil : text
  }
}
