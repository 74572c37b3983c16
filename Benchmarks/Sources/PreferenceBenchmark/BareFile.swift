import Foundation

/// The least system calls for a store whose values all processes see: a lock, a write of a record's size, the unlock.
struct BareFile {
  private(set) var write = Samples()
  private(set) var durable = Samples()

  init(in directory: String) throws {
    let descriptor = open("\(directory)/bare", O_RDWR | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else { throw BenchmarkError("bare") }
    defer { close(descriptor) }
    // Writes to allocated blocks, as a journal does. Filled in parts, because the kernel would keep a single part as one extent,
    // and traverse it at each write.
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
