import Foundation

/// The terminal of this program: keys come one by one, unseen, and lines are shown from the top.
@MainActor
final class Terminal {
  private var original = termios()
  let keys: AsyncStream<Character>
  private let input: any DispatchSourceRead
  private let interrupt: any DispatchSourceSignal

  /// Nil if standard input is not a terminal.
  init?() {
    guard unsafe tcgetattr(STDIN_FILENO, &original) == 0 else { return nil }
    let (keys, continuation) = AsyncStream<Character>.makeStream()
    self.keys = keys
    input = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .main)
    interrupt = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
    var mode = original
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
    unsafe tcsetattr(STDIN_FILENO, TCSANOW, &mode)
    input.setEventHandler {
      let data = FileHandle.standardInput.availableData
      // The terminal has gone.
      if data.isEmpty { continuation.finish() }
      for byte in data { continuation.yield(Character(UnicodeScalar(byte))) }
    }
    signal(SIGINT, SIG_IGN)
    interrupt.setEventHandler { continuation.finish() }
    input.resume()
    interrupt.resume()
  }

  func show(_ lines: [String], isInverse: Bool) {
    let text = lines.map { $0 + "\u{1B}[K\r\n" }.joined()
    write("\u{1B}[2J\u{1B}[H\(isInverse ? "\u{1B}[7m" : "\u{1B}[0m")\(text)\u{1B}[0m")
  }

  func restore() {
    unsafe tcsetattr(STDIN_FILENO, TCSANOW, &original)
  }

  private func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
}
