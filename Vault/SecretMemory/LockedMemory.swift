/// The use of locked memory in this process, and its limits.
public enum LockedMemory {
  /// The behaviour if memory cannot be locked.
  public enum Policy: Sendable {
    /// A secret that cannot be locked is an error, `memoryNotLockable`. The default.
    case required
    /// Secrets may live in memory that the system may swap out. `usage` tells how much does.
    case allowSwap
  }

  /// In bytes, whole pages.
  public struct Usage: Sendable, Equatable {
    /// The bytes in locked pages.
    public internal(set) var lockedBytes: Int
    /// The bytes in pages that could not be locked.
    public internal(set) var unlockedBytes: Int
  }

  /// Process-wide, for secrets made from now on. Thread-safe.
  public static var policy: Policy {
    get { SlabArena.shared.policy }
    set { SlabArena.shared.policy = newValue }
  }

  /// The memory that is mapped now. Thread-safe.
  public static var usage: Usage { SlabArena.shared.usage }
}
