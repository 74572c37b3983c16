import CofferFiles
import Glibc
import Synchronization

/// A terminal whose person is a list of steps.
final class PseudoTerminal {
  let path: String
  private let master: Int32
  /// Kept open, so that the mode of the terminal can be read after the command has ended.
  private let slave: Int32
  private(set) var transcript: [UInt8] = []
  private var seen = 0

  init() throws {
    var (master, slave): (Int32, Int32) = (-1, -1)
    var name = [CChar](repeating: 0, count: 64)
    try Child.spawning.withLock { _ in
      guard unsafe openpty(&master, &slave, &name, nil, nil) == 0 else { throw Child.Failed(what: "pseudo-terminal") }
      for descriptor in [master, slave] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    }
    (self.master, self.slave) = (master, slave)
    path = unsafe name.withUnsafeBufferPointer { unsafe String(cString: $0.baseAddress!) }
  }

  deinit {
    close(slave)
    close(master)
  }

  /// Takes in what the command has written, for as long as `wait` milliseconds if there is nothing yet.
  private func take(wait: Int32) -> Bool {
    var entry = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&entry, 1, wait) > 0 else { return false }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe read(master, &buffer, buffer.count)
    guard count > 0 else { return false }
    transcript += buffer[..<count]
    return true
  }

  /// Waits until `text` has been written after what was expected before.
  func expect(_ wanted: [UInt8], until deadline: Deadline) -> Bool {
    while true {
      if transcript.count - seen >= wanted.count {
        for start in seen...(transcript.count - wanted.count)
        where transcript[start..<start + wanted.count].elementsEqual(wanted) {
          seen = start + wanted.count
          return true
        }
      }
      guard !deadline.hasPassed else { return false }
      _ = take(wait: 20)
    }
  }

  /// Waits for the question about a group of a recovery key.
  /// - Returns: that group of the key that was shown last.
  func askedGroup(until deadline: Deadline) -> [UInt8]? {
    guard expect(Array("Group ".utf8), until: deadline), expect(Array(" of ".utf8), until: deadline) else { return nil }
    let number = Int(transcript[seen - 5]) - 0x31
    let lines = transcript[..<seen].split { $0 == 0x0A || $0 == 0x0D }
    let keys = lines.map { $0.split(separator: 0x2D) }.filter { $0.count == 8 && $0.allSatisfy { $0.count == 7 } }
    guard let key = keys.last, key.indices.contains(number) else { return nil }
    return Array(key[number])
  }

  func holds(_ text: [UInt8]) -> Bool {
    transcript.indices.contains { transcript[$0...].starts(with: text) }
  }

  func send(_ bytes: [UInt8]) {
    _ = unsafe write(master, bytes, bytes.count)
  }

  /// Waits until text that was sent can be read. The kernel hands it to the terminal later than write(2) returns, and shows it if echo
  /// is on by then.
  func waitForInput(until deadline: Deadline) -> Bool {
    while true {
      var count: Int32 = 0
      if unsafe ioctl(slave, UInt(FIONREAD), &count) == 0, count > 0 { return true }
      guard !deadline.hasPassed else { return false }
      _ = take(wait: 1)
    }
  }

  func resize(rows: UInt16, columns: UInt16) {
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = unsafe ioctl(master, UInt(TIOCSWINSZ), &size)
  }

  /// All flags and characters of its mode.
  var mode: [UInt8] {
    var mode = termios()
    guard unsafe tcgetattr(slave, &mode) == 0 else { return [] }
    return unsafe withUnsafeBytes(of: mode) { unsafe Array($0) }
  }

  func drain() {
    while take(wait: 20) {}
  }

  /// - Parameter mode: As for `has`.
  func waitForMode(_ mode: String, until deadline: Deadline) -> Bool {
    while !has(mode) {
      guard !deadline.hasPassed else { return false }
      _ = take(wait: 20)
    }
    return true
  }

  /// `+echo`: on, `-echo`: off.
  func has(_ mode: String) -> Bool {
    var current = termios()
    guard unsafe tcgetattr(slave, &current) == 0 else { return false }
    let flags = ["echo": ECHO, "icanon": ICANON, "isig": ISIG]
    guard let flag = flags[String(mode.dropFirst())] else { return false }
    return (current.c_lflag & tcflag_t(flag) != 0) == mode.hasPrefix("+")
  }
}
