internal import CLinux
internal import CofferFiles
internal import CofferRequests
internal import CofferWire
internal import Glibc

// An answer may take minutes, if the owner is asked. A stopped agent never answers. The two differ in whether the agent takes what is
// sent to it: that takes it no longer than to get the processor.
extension AgentSocket {
  /// Waits for the first byte of an answer, and looks now and then whether the agent takes requests at all.
  /// - Throws: `KeychainError`: `agentNotAnswering`; `FrameChannel.Failure`: `late` if the answer takes longer than `milliseconds`.
  func awaitAnswer(_ channel: FrameChannel, _ milliseconds: Int32) throws {
    var left = milliseconds
    var pause = min(left, WireLimits.firstLookMilliseconds)
    while try !channel.isReadable(within: pause) {
      left -= pause
      guard left > 0 else { throw FrameChannel.Failure.late }
      try checkLife(of: channel)
      pause = min(left, WireLimits.laterLookMilliseconds)
    }
  }

  /// Sends one byte on a connection of its own, and waits until the agent has read it or has closed that connection. The agent decides
  /// and logs nothing for it.
  /// - Throws: `KeychainError`: `agentNotAnswering`.
  func checkLife(of channel: FrameChannel) throws {
    let process = Self.process(of: channel)
    guard isTaken() || process.map(Self.waitsForTheMachine) ?? false else {
      throw KeychainError(.agentNotAnswering, process.map { "\(path): process \($0)" } ?? path)
    }
  }

  private func isTaken() -> Bool {
    // Without a descriptor nothing can be said.
    guard let owned = OwnedDescriptor(coffer_local_socket()) else { return true }
    let probe = owned.number
    setPatience(of: probe)
    // If the queue is full, the agent takes no connection from it. If no process listens, the agent has ended, and so has the connection that is waited on.
    guard unsafe coffer_local_name(probe, path, 0) == 0 else { return errno != EAGAIN }
    var byte: UInt8 = 0
    guard unsafe send(probe, &byte, 1, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)) == 1 else { return true }
    var entry = pollfd(fd: probe, events: Int16(POLLIN), revents: 0)
    defer { withExtendedLifetime(owned) {} }
    for _ in 0..<(WireLimits.lifeMilliseconds / Self.lookMilliseconds) {
      var unread: Int32 = 0
      guard unsafe ioctl(probe, UInt(TIOCOUTQ), &unread) == 0, unread > 0 else { return true }
      // Also an end: one that takes no further connection has taken this one.
      guard unsafe poll(&entry, 1, Self.lookMilliseconds) == 0 else { return true }
    }
    return false
  }

  private static let lookMilliseconds: Int32 = 20

  func setPatience(of descriptor: Int32) {
    let milliseconds = Int(WireLimits.lifeMilliseconds)
    var patience = timeval(tv_sec: milliseconds / 1000, tv_usec: milliseconds % 1000 * 1000)
    _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  /// The process that listens. That of the service manager, if it has made the socket.
  private static func process(of channel: FrameChannel) -> Int32? {
    var credentials = coffer_credentials()
    guard unsafe coffer_peer_credentials(channel.descriptor, &credentials) == 0, credentials.process > 0 else { return nil }
    return credentials.process
  }

  /// Whether a thread of a process is ready to run, or waits for the disk: then the machine is busy, and the agent is not stopped.
  static func waitsForTheMachine(_ process: Int32) -> Bool {
    let threads = "/proc/\(process)/task"
    guard let directory = unsafe opendir(threads) else { return false }
    defer { unsafe closedir(directory) }
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard let file = OwnedDescriptor(unsafe open("\(threads)/\(name)/stat", O_RDONLY | O_CLOEXEC)) else { continue }
      var bytes = [UInt8](repeating: 0, count: 256)
      let count = unsafe read(file.number, &bytes, bytes.count)
      if count > 0, waitsForTheMachine(stat: bytes[..<count]) { return true }
    }
    return false
  }

  /// - Parameter stat: As in /proc/PID/task/TID/stat: number, name in parentheses, which may hold more of them, and state.
  static func waitsForTheMachine(stat: ArraySlice<UInt8>) -> Bool {
    guard let end = stat.lastIndex(of: UInt8(ascii: ")")), stat.indices.contains(end + 2) else { return false }
    return [UInt8(ascii: "R"), UInt8(ascii: "D")].contains(stat[end + 2])
  }
}
