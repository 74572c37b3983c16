package import CofferWire
internal import Synchronization

/// What one who watches has not heard yet. Never holds up who tells, and never grows beyond its limit: with more it forgets all and says
/// `missed` once. That also stands for what is done to items until it is taken.
package final class NoticeQueue: Sendable {
  private let limit: Int
  private let filled: @Sendable () -> Void
  private let waiting = Mutex<[Notice]>([])

  /// - Parameter filled: Called whenever there is something new. Must not wait.
  package init(limit: Int = WireLimits.noticesWaiting, filled: @escaping @Sendable () -> Void) {
    self.limit = limit
    self.filled = filled
  }

  package func put(_ notices: [Notice]) {
    guard !notices.isEmpty else { return }
    waiting.withLock { waiting in
      for notice in notices where waiting.last != .missed || notice == .locked || notice == .unlocked {
        if waiting.count >= limit { waiting = [.missed] } else { waiting.append(notice) }
      }
    }
    filled()
  }

  /// In the order in which it happened.
  package func takeAll() -> [Notice] {
    waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }

  package func takeFirst() -> Notice? {
    waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
  }
}
