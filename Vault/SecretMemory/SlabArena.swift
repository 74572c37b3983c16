import CSodium
import Synchronization

/// The one place in the process where secret bytes live: slabs of locked memory, cut into slots of a fixed size.
///
/// Slots come in 64, 256 and 4096 bytes; what is larger gets a slab of its own, which goes back to the kernel when it is freed.
/// `sodium_malloc` would guard and lock as well, at 20 us and three pages for each object, and does not say when locking failed.
///
/// Thread-safe: all state is behind one mutex, held for a few instructions.
struct SlabArena: ~Copyable {
  /// The slot sizes in bytes, ascending.
  static let slotSizes = [64, 256, 4096]
  static let shared = SlabArena()

  private struct State {
    /// A list of slabs for each slot size.
    var slabs: [[Slab]] = [[], [], []]
    var policy = LockedMemory.Policy.required
    var usage = LockedMemory.Usage(lockedBytes: 0, unlockedBytes: 0)

    mutating func count(_ slab: Slab, mapped: Bool) {
      let bytes = mapped ? slab.byteCount : -slab.byteCount
      if slab.isLocked { usage.lockedBytes += bytes } else { usage.unlockedBytes += bytes }
    }
  }

  private let state = Mutex(State())

  var policy: LockedMemory.Policy {
    get { state.withLock { $0.policy } }
    nonmutating set { state.withLock { $0.policy = newValue } }
  }

  var usage: LockedMemory.Usage { state.withLock { $0.usage } }

  /// A zeroed slot of at least `count` bytes.
  /// - Throws: `memoryNotLockable`, `outOfMemory`.
  func allocate(_ count: Int) throws(VaultError) -> Slot {
    precondition(count >= 0)
    return try state.withLock { (state) throws(VaultError) -> Slot in
      let size = Self.slotSizes.firstIndex { count <= $0 }
      if let size, let slab = state.slabs[size].last(where: \.hasFreeSlot) { return slab.take() }
      let slotSize = size.map { Self.slotSizes[$0] } ?? count
      let slab = try Slab(slotSize: slotSize, slotCount: size == nil ? 1 : max(4, 4096 / slotSize), policy: state.policy)
      state.count(slab, mapped: true)
      if let size { state.slabs[size].append(slab) }
      return slab.take()
    }
  }

  /// Wipes the slot and gives it back.
  func free(_ slot: Slot) {
    unsafe sodium_memzero(slot.base, slot.capacity)
    state.withLock { state in
      slot.slab.giveBack(slot)
      if slot.capacity > Self.slotSizes[2] {
        state.count(slot.slab, mapped: false)
        slot.slab.unmap()
      }
    }
  }
}
