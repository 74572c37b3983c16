internal import CofferPropertyLists
internal import Glibc

/// The values that one thread has found in one search list: as long as no stamp changes, a read takes no lock and makes no system
/// call.
///
/// Used by its own thread only. It retains the domains of the list until another list takes its place, or the thread ends.
@safe final class SearchCache {
  /// Allocated separately instead of in an array: reading a slot must neither count references nor check for exclusive access.
  @unsafe struct Slot {
    /// 0 if the slot is empty.
    fileprivate var hash: UInt64 = 0
    /// The sum of the stamps of all entries before the search, so that a change during the search invalidates the slot.
    fileprivate var stamp: UInt64 = 0
    fileprivate var key: UnsafeMutableBufferPointer<UInt8>
    var value: PropertyListValue?
    // The value, coerced once when it was found.
    var integer = 0
    var double = 0.0
    var bool = false
  }

  /// A key's hash selects one group of slots.
  private static let groupCount = 128
  private static let groupSize = 4
  private static var slotCount: Int { groupCount * groupSize }

  let list: UInt64
  let structure: SearchStructure
  private let slots: UnsafeMutablePointer<Slot>

  init(list: UInt64, structure: SearchStructure) {
    self.list = list
    self.structure = structure
    unsafe slots = .allocate(capacity: Self.slotCount)
    unsafe slots.initialize(repeating: Slot(key: UnsafeMutableBufferPointer(start: nil, count: 0)), count: Self.slotCount)
  }

  deinit {
    for index in 0..<Self.slotCount { unsafe slots[index].key.deallocate() }
    unsafe slots.deinitialize(count: Self.slotCount)
    unsafe slots.deallocate()
  }

  /// - Parameter body: Called with the slot of the key's present value. Must not read settings itself.
  @inline(__always)
  func read<Result>(_ key: String, _ body: (UnsafeMutablePointer<Slot>) -> Result) -> Result {
    if let slot = unsafe find(key) { return unsafe body(slot) }
    // A search may call the program's log handler about damaged files, which may replace this cache by another one.
    let kept = unsafe Unmanaged.passRetained(self)
    defer { unsafe kept.release() }
    return unsafe body(fill(key))
  }

  @inline(__always)
  private func find(_ key: String) -> UnsafeMutablePointer<Slot>? {
    let stamp = structure.stamp
    return unsafe Self.withBytes(key) { bytes in
      let hash = unsafe Self.hash(bytes)
      let first = Self.group(hash)
      for place in first..<first &+ Self.groupSize where unsafe holds(slots + place, bytes, hash, stamp) {
        return unsafe slots + place
      }
      return nil
    }
  }

  /// The index of the group's first slot.
  @inline(__always)
  private static func group(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 57) &* groupSize }

  /// Compares keys byte by byte: `==` would treat two Unicode normal forms as one key.
  @inline(__always)
  private func holds(
    _ slot: UnsafeMutablePointer<Slot>, _ key: UnsafeBufferPointer<UInt8>, _ hash: UInt64, _ stamp: UInt64
  ) -> Bool {
    unsafe slot.pointee.hash == hash && slot.pointee.stamp == stamp && slot.pointee.key.count == key.count
      && (key.isEmpty || memcmp(slot.pointee.key.baseAddress!, key.baseAddress!, key.count) == 0)
  }

  @inline(never)
  private func fill(_ key: String) -> UnsafeMutablePointer<Slot> {
    // Read before the search.
    let stamp = structure.stamp
    let value = structure.search(key)
    return unsafe Self.withBytes(key) { bytes in
      let hash = unsafe Self.hash(bytes)
      // Reuses the key's old slot; otherwise the group's slots move on by one, and the last one is dropped.
      let slot = unsafe slots + Self.group(hash)
      var place = 0
      while place < Self.groupSize - 1, unsafe slot[place].hash != hash { place += 1 }
      let leaving = unsafe (slot + place).move()
      unsafe leaving.key.deallocate()
      unsafe (slot + 1).moveInitialize(from: slot, count: place)
      let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
      _ = unsafe copy.initialize(fromContentsOf: bytes)
      unsafe slot.initialize(
        to: Slot(
          hash: hash, stamp: stamp, key: copy, value: value, integer: value?.coercedToInteger ?? 0,
          double: value?.coercedToDouble ?? 0, bool: value?.coercedToBool ?? false))
      return unsafe slot
    }
  }

  @inline(__always)
  private static func withBytes<Result>(_ text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    if let result = unsafe text.utf8.withContiguousStorageIfAvailable(body) { return result }
    var text = text
    return text.withUTF8(body)
  }

  /// Never 0. Eight bytes at a time: the slot compares the key itself, so the hash has to be fast rather than good.
  @inline(__always)
  private static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
    let raw = UnsafeRawBufferPointer(bytes)
    var hash = UInt64(truncatingIfNeeded: raw.count) &* 0x9E37_79B9_7F4A_7C15
    var offset = 0
    while offset &+ 8 <= raw.count {
      hash = unsafe mix(hash ^ raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      offset &+= 8
    }
    var rest: UInt64 = 0
    while offset < raw.count {
      rest = unsafe rest << 8 | UInt64(raw[offset])
      offset &+= 1
    }
    return mix(hash ^ rest) | 1
  }

  @inline(__always)
  private static func mix(_ word: UInt64) -> UInt64 {
    let product = word.multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
    return product.high ^ product.low
  }
}
