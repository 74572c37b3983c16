import CLinux
import Glibc

extension Peer {
  /// Whether the process has this terminal as its controlling one and is in its foreground process group, so that it is what a
  /// person at the terminal types for. False if that cannot be read.
  func isInForeground(of terminal: String) -> Bool {
    var status = stat()
    guard unsafe stat(terminal, &status) == 0, status.st_mode & S_IFMT == S_IFCHR else { return false }
    let text = Self.text("/proc/\(process)/stat")
    // After the look: that number was this process's all the time.
    guard isAlive, let text else { return false }
    return Self.isInForeground(text, of: UInt64(status.st_rdev))
  }

  /// - Parameters:
  ///   - text: The content of /proc/PID/stat.
  ///   - device: The device number of the terminal.
  static func isInForeground(_ text: String, of device: UInt64) -> Bool {
    // The name before the last parenthesis may contain anything.
    guard let end = text.utf8.lastIndex(of: UInt8(ascii: ")")) else { return false }
    // After it: state, parent, process group, session, terminal, and the terminal's foreground process group.
    let fields = text[end...].split(separator: " ").dropFirst().prefix(6).compactMap { Int64($0) ?? ($0.count == 1 ? 0 : nil) }
    guard fields.count == 6, let own = UInt32(exactly: UInt64(bitPattern: fields[4]) & 0xFFFF_FFFF) else { return false }
    return UInt64(own) == device && fields[2] > 0 && fields[2] == fields[5]
  }
}
