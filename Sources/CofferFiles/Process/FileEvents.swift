internal import CLinux
internal import Glibc

/// The reader of inotify(7): events of files in the directories that are watched.
package final class FileEvents: Sendable {
  package struct Event {
    package let watch: Int32
    package let mask: UInt32
    /// Empty for an event of the directory itself.
    package let name: String
  }

  private let owned: OwnedDescriptor?
  /// Readable after an event. -1 if the user has no inotify instance left.
  package let descriptor: Int32

  /// `errno` says why, if the descriptor is -1.
  package init() {
    descriptor = coffer_inotify()
    owned = OwnedDescriptor(descriptor)
  }

  /// - Returns: the number of the watch; -1 if it failed, with the reason in `errno`.
  package func watch(_ directory: String, for mask: UInt32) -> Int32 {
    unsafe inotify_add_watch(descriptor, directory, mask | UInt32(IN_ONLYDIR))
  }

  package func remove(_ watch: Int32) { _ = inotify_rm_watch(descriptor, watch) }

  /// Takes all events that have come.
  package func take() -> [Event] {
    var events: [Event] = []
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { return events }
      var offset = 0
      // struct inotify_event: watch, mask, cookie, length of the name; then the name, padded with zeros.
      while offset + 16 <= count {
        let (watch, mask, length) = unsafe buffer.withUnsafeBytes { bytes in
          unsafe (
            bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self),
            bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self),
            Int(bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
          )
        }
        let name = buffer[(offset + 16)..<(offset + 16 + length)].prefix { $0 != 0 }
        events.append(Event(watch: watch, mask: mask, name: String(decoding: name, as: UTF8.self)))
        offset += 16 + length
      }
    }
  }

  /// Drops all events that have come, for those who look at the files themselves.
  package func clear() { _ = take() }
}
