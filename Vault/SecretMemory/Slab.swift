import CLinux
import Glibc

/// A piece of a slab, owned by exactly one `Secret`.
@safe struct Slot: @unchecked Sendable {
  let base: UnsafeMutableRawPointer
  /// In bytes.
  let capacity: Int
  let slab: Slab
  let index: Int
}

/// Locked pages between two inaccessible ones, cut into at most 64 slots of one size.
///
/// The pages are never swapped, are left out of core dumps and of forked children, and come from `memfd_secret(2)` where the
/// kernel has it: then even the kernel's own map and `/proc/PID/mem` do not reach them.
///
/// Not thread-safe by itself: only `SlabArena` touches it, under its mutex.
@safe final class Slab: @unchecked Sendable {
  let slotSize: Int
  let slotCount: Int
  /// The usable bytes: whole pages.
  let byteCount: Int
  /// False only under `LockedMemory.Policy.allowSwap`.
  let isLocked: Bool
  private let mapping: UnsafeMutableRawPointer
  /// A set bit for each free slot.
  private var free: UInt64

  private static let pageSize = 4096

  /// - Throws: `outOfMemory` if there is no address space; `memoryNotLockable` if the pages cannot be locked and `policy` wants it.
  init(slotSize: Int, slotCount: Int, policy: LockedMemory.Policy) throws(VaultError) {
    let page = Self.pageSize
    let byteCount = (slotSize * slotCount + page - 1) / page * page
    // The guards: an inaccessible reservation, of which only the middle is opened.
    guard let mapping = unsafe mmap(nil, byteCount + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      unsafe mapping != MAP_FAILED
    else { throw VaultError(.outOfMemory, "\(byteCount) bytes") }
    let pages = unsafe mapping + page

    var isLocked = unsafe Self.mapSecretFile(at: pages, byteCount: byteCount)
    if !isLocked {
      guard unsafe mmap(pages, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == pages else {
        unsafe munmap(mapping, byteCount + 2 * page)
        throw VaultError(.outOfMemory, "\(byteCount) bytes")
      }
      isLocked = unsafe mlock(pages, byteCount) == 0
    }
    if !isLocked && policy == .required {
      unsafe munmap(mapping, byteCount + 2 * page)
      throw VaultError(.memoryNotLockable, "\(byteCount) bytes; see RLIMIT_MEMLOCK")
    }
    unsafe madvise(pages, byteCount, MADV_DONTDUMP)
    unsafe madvise(pages, byteCount, MADV_DONTFORK)

    self.slotSize = slotSize
    self.slotCount = slotCount
    self.byteCount = byteCount
    self.isLocked = isLocked
    unsafe self.mapping = unsafe mapping
    free = slotCount == 64 ? .max : (1 << UInt64(slotCount)) - 1
  }

  /// False where the kernel has no secret memory, or the limit on locked memory (it counts here too) is reached.
  private static func mapSecretFile(at pages: UnsafeMutableRawPointer, byteCount: Int) -> Bool {
    let descriptor = coffer_memfd_secret(UInt32(O_CLOEXEC))
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    guard ftruncate(descriptor, off_t(byteCount)) == 0 else { return false }
    return unsafe mmap(pages, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0) == pages
  }

  var hasFreeSlot: Bool { free != 0 }

  /// The lowest free slot. There must be one.
  func take() -> Slot {
    let index = free.trailingZeroBitCount
    free &= ~(1 << UInt64(index))
    return unsafe Slot(base: mapping + Self.pageSize + index * slotSize, capacity: slotSize, slab: self, index: index)
  }

  func giveBack(_ slot: Slot) {
    free |= 1 << UInt64(slot.index)
  }

  /// Gives the pages back to the kernel. No slot may be in use.
  func unmap() {
    unsafe munmap(mapping, byteCount + 2 * Self.pageSize)
  }
}
