import CLinux
internal import CofferFiles
import Glibc
import Synchronization

/// The state that the processes of a domain share: which journal is in use, its committed length, and a number that
/// changes with every commit.
///
/// It is the first 64 bytes of the lock file, mapped into each process, so that a reader sees by one load that nothing has
/// changed. If the file cannot be mapped, or is on a filesystem whose mappings other machines do not see, it is read and
/// written with system calls instead; processes of both kinds understand each other.
///
/// Its content is invalid after a restart of the machine, when the disk may have an older state of it than of the journal.
/// Then, and if it is malformed, the journal is used alone.
final class GenerationPage: Sendable {
  /// Everything but the number itself.
  struct Content: Equatable {
    /// The epoch of the journal in use. Odd while a journal is being replaced, 0 if there is none.
    var epoch: UInt64
    /// Committed bytes of the journal.
    var length: UInt64
    /// The size of all keys and values, see `PreferenceLimits.domainByteCount`.
    var byteCount: UInt64
  }

  enum Sharing: Sendable {
    case automatic
    /// With system calls, as on a network file system.
    case unmapped
  }

  static let fileByteCount = 4096
  private static let magic: UInt64 = 0x3147_5052_4546_4F43  // "COFERPG1"

  private let file: OpenFile
  private let isWritable: Bool
  /// Eight words: magic, generation, epoch, length, bytes of the values, boot identifier (two), the length that belongs to the
  /// generation.
  private let words: UInt?

  /// - Parameter file: With at least `fileByteCount` bytes: a mapping beyond the end of a file ends the process.
  init(_ file: OpenFile, isWritable: Bool, sharing: Sharing) {
    self.file = file
    self.isWritable = isWritable
    guard sharing == .automatic, !Self.isShared(file) else {
      words = nil
      return
    }
    let protection = isWritable ? PROT_READ | PROT_WRITE : PROT_READ
    let mapped = unsafe mmap(nil, Self.fileByteCount, protection, MAP_SHARED, file.number, 0)
    words = unsafe mapped == MAP_FAILED ? nil : UInt(bitPattern: mapped)
  }

  /// Also where the kernel does not say.
  private static func isShared(_ file: OpenFile) -> Bool {
    let type = coffer_file_system(file.number)
    return type == 0 || SharedFileSystem.contains(type: type)
  }

  deinit {
    if let words { unsafe munmap(UnsafeMutableRawPointer(bitPattern: words), Self.fileByteCount) }
  }

  var isMapped: Bool { words != nil }

  /// Changes with every commit. 0 where it cannot be read.
  var generation: UInt64 { load(1) }

  private func load(_ word: Int) -> UInt64 {
    guard let words else {
      var value: UInt64 = 0
      let count = unsafe withUnsafeMutableBytes(of: &value) { bytes in
        retrying { unsafe pread(file.number, bytes.baseAddress, 8, off_t(8 * word)) }.result
      }
      return count == 8 ? value : 0
    }
    return unsafe UnsafePointer<Atomic<UInt64>>(bitPattern: words + UInt(8 * word))!.pointee.load(ordering: .acquiring)
  }

  private func store(_ value: UInt64, _ word: Int) throws(PreferenceError) {
    guard let words else {
      return try file.write(unsafe withUnsafeBytes(of: value) { unsafe Array($0) }, at: 8 * word)
    }
    unsafe UnsafePointer<Atomic<UInt64>>(bitPattern: words + UInt(8 * word))!.pointee.store(value, ordering: .releasing)
  }

  /// nil if the page was not written since this machine started, and while a journal is being replaced.
  var content: Content? {
    let boot = BootIdentifier.current
    guard load(0) == Self.magic, load(5) == boot.first, load(6) == boot.second else { return nil }
    let epoch = load(2)
    let content = Content(epoch: epoch, length: load(3), byteCount: load(4))
    // A process that changes the journal makes the epoch odd before anything else.
    guard epoch % 2 == 0, load(2) == epoch else { return nil }
    return content
  }

  /// Within the lock.
  func commit(_ content: Content) throws(PreferenceError) {
    if load(2) != content.epoch || load(0) != Self.magic || BootIdentifier(first: load(5), second: load(6)) != .current {
      // If the process is killed during this, the page is invalid, and never has an old length with a new boot identifier.
      try beginReplacing()
      try store(BootIdentifier.current.first, 5)
      try store(BootIdentifier.current.second, 6)
      try store(content.length, 3)
      try store(content.byteCount, 4)
      // Another one than any that was seen before, though the file may be new.
      if load(0) != Self.magic { try store(.random(in: 0 ... .max), 1) }
      try store(Self.magic, 0)
      try store(content.epoch, 2)
    }
    try store(content.byteCount, 4)
    try store(content.length, 3)
    try announce()
  }

  /// Within the lock: tells all others of the length that is committed.
  private func announce() throws(PreferenceError) {
    try store(load(1) &+ 1, 1)
    try store(load(3), 7)
  }

  /// Within the lock: what a writer committed that died before it could tell the others.
  func announceForgotten() throws(PreferenceError) {
    if load(7) != load(3) { try announce() }
  }

  /// Called with the lock, before a journal replaces another one. Readers then look for the journal by its name.
  func beginReplacing() throws(PreferenceError) {
    try store(load(2) | 1, 2)
  }
}

/// Another one after each start of the machine.
struct BootIdentifier: Equatable, Sendable {
  let first: UInt64
  let second: UInt64

  static let current: BootIdentifier = {
    // Where the kernel does not say: what a process writes is believed by itself alone.
    func unknown() -> BootIdentifier { BootIdentifier(first: .random(in: 1 ... .max), second: .random(in: 1 ... .max)) }
    let opened = retrying { unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC) }
    guard opened.result >= 0 else { return unknown() }
    defer { close(opened.result) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = unsafe bytes.withUnsafeMutableBytes { buffer in
      retrying { unsafe read(opened.result, buffer.baseAddress, buffer.count) }.result
    }
    let digits = String(decoding: bytes.prefix(max(0, count)).filter { $0 != UInt8(ascii: "-") }, as: UTF8.self)
    guard let first = UInt64(digits.prefix(16), radix: 16), let second = UInt64(digits.dropFirst(16).prefix(16), radix: 16) else {
      return unknown()
    }
    return BootIdentifier(first: first, second: second)
  }()
}
