import Glibc

/// When a process began. Two processes that had the same number differ in it.
package enum ProcessStart {
  /// In ticks of the clock since the machine started. Returns nil if the process has ended.
  package static func ticks(of process: Int32) -> UInt64? {
    guard let file = OwnedDescriptor(unsafe open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)) else { return nil }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe read(file.number, &buffer, buffer.count)
    return count > 0 ? ticks(in: String(decoding: buffer[..<count], as: UTF8.self)) : nil
  }

  /// - Parameter text: The content of /proc/PID/stat.
  package static func ticks(in text: String) -> UInt64? {
    // The name of the program is the second field, in parentheses, and may have anything in it; the start is the 22nd.
    guard let end = text.utf8.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = text.utf8[end...].split(separator: UInt8(ascii: " "))
    return fields.count > 20 ? UInt64(Substring(fields[20])) : nil
  }

  /// The present moment in the same unit.
  package static func now() -> UInt64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    let ticks = UInt64(max(1, sysconf(Int32(_SC_CLK_TCK))))
    return UInt64(time.tv_sec) * ticks + UInt64(time.tv_nsec) * ticks / 1_000_000_000
  }
}
