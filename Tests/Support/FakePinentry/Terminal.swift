package import CofferFiles
import Foundation
import Glibc

/// A terminal, and a person who types.
package final class Terminal: Sendable {
  private let master: Master
  package let slave: OwnedDescriptor
  package let name: String

  /// Shows the screen, takes the keys, and keeps the text that was shown. Every thread that uses it retains it: a thread with only the
  /// number read, after the descriptor was closed, from the next terminal that got the number, and a test waited for text of that one.
  private final class Master: @unchecked Sendable {
    let descriptor: OwnedDescriptor
    private let lock = NSLock()
    private var seen = ""

    init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }
    func append(_ bytes: ArraySlice<UInt8>) { lock.withLock { seen += String(decoding: bytes, as: UTF8.self) } }
    var text: String { lock.withLock { seen } }
  }

  package init() throws {
    var (master, slave): (Int32, Int32) = (-1, -1)
    var name = [CChar](repeating: 0, count: 64)
    var size = winsize(ws_row: 40, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0)
    guard unsafe openpty(&master, &slave, &name, nil, &size) == 0, let ours = OwnedDescriptor(master),
      let theirs = OwnedDescriptor(slave)
    else { throw POSIXError(.ENOTTY) }
    for descriptor in [master, slave] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    self.master = Master(ours)
    self.slave = theirs
    self.name = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // Ends when nobody has the terminal open any more.
    Foundation.Thread.detachNewThread { [master = self.master] in
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = unsafe read(master.descriptor.number, &buffer, buffer.count)
        guard count > 0 else { break }
        master.append(buffer[..<count])
      }
    }
  }

  package var output: String { master.text }

  /// As a program that has the terminal open does.
  package func show(_ text: String) { unsafe _ = write(slave.number, text, text.utf8.count) }

  /// Types when a text has been shown.
  package func type(_ keys: String, after text: String) {
    when(text) { master in unsafe _ = write(master.descriptor.number, keys, keys.utf8.count) }
  }

  /// Calls `body` when a text has been shown.
  package func when(_ text: String, _ body: @escaping @Sendable () -> Void) { when(text) { _ in body() } }

  private func when(_ text: String, _ body: @escaping @Sendable (Master) -> Void) {
    Foundation.Thread.detachNewThread { [master] in
      if Self.isShown(text, master) { body(master) }
    }
  }

  package func type(_ keys: String) { unsafe _ = write(master.descriptor.number, keys, keys.utf8.count) }

  /// Returns when a text has been shown.
  /// - Throws: `Missing` after five minutes.
  package func wait(for text: String) throws {
    guard Self.isShown(text, master) else { throw Missing(wanted: text, shown: output) }
  }

  package struct Missing: Error {
    let wanted: String
    let shown: String
  }

  private static func isShown(_ text: String, _ master: Master) -> Bool {
    let end = ContinuousClock.now + .seconds(300)
    while !master.text.contains(text) {
      guard ContinuousClock.now < end else { return false }
      usleep(1000)
    }
    return true
  }
}
