import CCurl
import CofferFiles
import CofferSync
import Synchronization

/// A call of `Watch/Watch`, which tells of new entries, on a connection and a thread of its own. It is made again when it has ended.
final class EtcdWatch {
  /// The state that its thread shares.
  private final class Signs: Sendable {
    let news: EventNotifier
    let end: EventNotifier
    let isLive = Atomic(false)

    init?() {
      guard let news = EventNotifier(), let end = EventNotifier() else { return nil }
      (self.news, self.end) = (news, end)
    }

    /// Readable after the change, so that a look at the log follows it.
    func set(isLive new: Bool) {
      if isLive.exchange(new, ordering: .acquiringAndReleasing) != new { news.call() }
    }
  }

  private let signs: Signs
  private let thread: JoinedThread

  /// Readable when the watch has begun, when it has ended, and after an entry.
  var descriptor: Int32 { signs.news.descriptor }
  /// Whether a member tells of each entry.
  var isLive: Bool { signs.isLive.load(ordering: .acquiring) }

  /// - Parameters:
  ///   - endpoints: One after the other is tried.
  ///   - callMilliseconds: Until the watch has begun.
  /// - Returns: nil if the system has no descriptor or no thread left.
  init?(
    _ endpoints: [String], _ certificates: EtcdCertificates, _ request: [UInt8], connectMilliseconds: Int, callMilliseconds: Int
  ) {
    let frame = EtcdConnection.frame(request)
    guard let signs = Signs() else { return nil }
    let thread = JoinedThread("coffer-etcd") {
      var (tries, next) = (0, 0)
      while true {
        let begin = Deadline(milliseconds: Self.longLife)
        let call = WatchCall {
          signs.set(isLive: true)
        } onEntry: {
          signs.news.call()
        }
        call.run(
          endpoints[next], certificates, frame, until: signs.end, connectMilliseconds: connectMilliseconds,
          callMilliseconds: callMilliseconds)
        signs.set(isLive: false)
        tries = begin.hasPassed ? 0 : min(tries + 1, Self.maximumTries)
        next = (next + 1) % endpoints.count
        let pause = Int32(Backoff.afterOutage(tries, random: .random(in: 0..<1)))
        if signs.end.wait(milliseconds: pause).isCalled { return }
      }
    }
    guard let thread else { return nil }
    (self.signs, self.thread) = (signs, thread)
  }

  /// In milliseconds: a watch that ends earlier is made again after a longer and longer time.
  private static let longLife = 60_000
  /// 64 s between two of them at most.
  private static let maximumTries = 7

  // The thread ends then, and `thread` waits for it.
  deinit { signs.end.call() }

  func clear() { signs.news.clear() }
}

/// One call, on the thread of the watch.
@safe final class WatchCall {
  private var reader = WatchReader()
  private(set) var hasBegun = false
  private let onBegin: () -> Void
  private let onEntry: () -> Void

  init(onBegin: @escaping () -> Void, onEntry: @escaping () -> Void) { (self.onBegin, self.onEntry) = (onBegin, onEntry) }

  /// Returns when the call has ended, or the notifier was called.
  func run(
    _ endpoint: String, _ certificates: EtcdCertificates, _ frame: [UInt8], until end: EventNotifier, connectMilliseconds: Int,
    callMilliseconds: Int
  ) {
    let begin = Deadline(milliseconds: connectMilliseconds + callMilliseconds)
    unsafe frame.withUnsafeBufferPointer { frame in
      var stream = unsafe coffer_curl_stream()
      defer { unsafe coffer_curl_close(&stream) }
      let isOpen = unsafe coffer_curl_open(
        &stream, certificates.handle(connectMilliseconds, 0), "https://\(endpoint)/etcdserverpb.Watch/Watch", frame.baseAddress,
        frame.count,
        { data, _, count, target in
          guard let data = unsafe data, let target = unsafe target else { return 0 }
          let part = unsafe UnsafeRawBufferPointer(start: data, count: count)
          return unsafe Unmanaged<WatchCall>.fromOpaque(target).takeUnretainedValue().take(part) ? count : 0
        }, Unmanaged.passUnretained(self).toOpaque())
      guard isOpen != 0 else { return }
      while unsafe coffer_curl_turn(&stream, end.descriptor, hasBegun ? 60_000 : begin.left) != 0 {
        guard hasBegun || !begin.hasPassed else { return }
      }
    }
  }

  /// - Returns: Whether the call goes on.
  private func take(_ part: UnsafeRawBufferPointer) -> Bool {
    do {
      for event in try unsafe reader.take(part) {
        switch event {
        case .begin:
          hasBegun = true
          onBegin()
        case .entry: onEntry()
        case .end: return false
        }
      }
      return true
    } catch {
      return false
    }
  }
}
