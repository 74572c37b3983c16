import Foundation

/// What any store of this kind pays the system for a value that all processes see: a lock, a write of a record's size, the unlock.
struct BareFile {
  private(set) var write = Samples()
  private(set) var durable = Samples()

  init(in directory: String) throws {
    let descriptor = open("\(directory)/bare", O_RDWR | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else { throw BenchmarkError("bare") }
    defer { close(descriptor) }
    // Blocks that are there already, as a journal has them. Not in one piece: the kernel would keep it as one, and walk it at each write.
    var zeros = [UInt8](repeating: 0, count: 16 << 10)
    for index in 0..<256 { pwrite(descriptor, &zeros, zeros.count, off_t(index * zeros.count)) }
    fsync(descriptor)
    var record = [UInt8](repeating: 7, count: 43)
    var offset = 0
    func set() {
      flock(descriptor, LOCK_EX | LOCK_NB)
      pwrite(descriptor, &record, record.count, off_t(offset))
      flock(descriptor, LOCK_UN)
      offset += record.count
    }
    for _ in 0..<40 { write.measure(each: 500) { _, _ in set() } }
    for _ in 0..<200 {
      durable.measure {
        set()
        fdatasync(descriptor)
      }
    }
  }
}
