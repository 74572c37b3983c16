/// Tells states of the rules about apps apart: what is installed, pinned and granted. A generation of the vault stands for one state, and
/// those that only change items, as the agent knows of its own, leave it as it is.
struct PolicyEpoch {
  private var generation: UInt64 = 0
  private var count: UInt64 = 0

  /// - Parameter generation: The vault's, as it was seen last.
  mutating func count(at generation: UInt64) -> UInt64 {
    if generation != self.generation { (self.generation, count) = (generation, count + 1) }
    return count
  }

  /// Items were changed here.
  /// - Parameters:
  ///   - before: The generation that was seen last before.
  ///   - after: The one that came of it. Where it is not the next one, somebody else has changed something in between.
  mutating func itemsChanged(from before: UInt64, to after: UInt64) {
    if before == generation, after == before + 1 { generation = after }
  }

  /// It is another vault, or another state of the same one.
  mutating func restart() { (generation, count) = (0, count + 1) }
}
