import CofferWire
import Glibc

/// Descriptors for as many connections as the agent takes. A session gives a program 1,024, which is for those that use
/// `select(2)`, and lets others have more.
enum DescriptorLimit {
  /// For each connection itself, the process at its other end, and the program of that while it is looked at; the rest for what
  /// is the agent's.
  private static let needed = rlim_t(3 * WireLimits.connections + 256)

  /// As far as the system lets it.
  static func raise() {
    var limit = rlimit()
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard unsafe getrlimit(kind, &limit) == 0, limit.rlim_cur < needed else { return }
    limit.rlim_cur = min(needed, limit.rlim_max)
    _ = unsafe setrlimit(kind, &limit)
  }
}
