import CLinux
import CofferConsole
import Glibc
import ProgramSecrets
import SecretMemory

extension Secret {
  /// The longest value of an item: 1 MiB.
  static let longestValue = 1 << 20

  /// Everything up to the end of `descriptor`, straight into locked memory.
  /// - Parameter isComplete: Whether the bytes are all that is wanted, although more might follow; those before the offset were
  ///   shown to it before.
  /// - Throws: `secretTooLarge` after `limit` + 1 bytes, whatever else may follow.
  static func reading(
    _ descriptor: Descriptor, limit: Int = longestValue, until isComplete: (RawSpan, Int) -> Bool = { _, _ in false }
  ) throws -> Secret {
    var secret = try Secret(count: min(descriptor.expectedCount ?? 255, limit) + 1)
    var count = 0
    while true {
      let got = try secret.withMutableBytes { span in
        try unsafe span.withUnsafeMutableBytes { try unsafe descriptor.read(into: .init(rebasing: $0[count...])) }
      }
      guard got > 0 else { break }
      let start = count
      count += got
      guard count <= limit else { throw VaultError(.secretTooLarge, "more than \(limit) bytes in \(descriptor.name)") }
      if secret.withBytes({ isComplete($0.extracting(0..<count), start) }) { break }
      if count == secret.count { secret = try secret.enlarged(to: min(count * 8, limit + 1)) }
    }
    secret.truncate(to: count)
    return secret
  }

  /// The same bytes, and zeros after them.
  consuming func enlarged(to count: Int) throws(VaultError) -> Secret {
    var larger = try Secret(count: count)
    larger.write(self, at: 0)
    return larger
  }

  var endsLine: Bool {
    withBytes { $0.byteCount > 0 && $0.byte(at: $0.byteCount - 1) == 0x0A }
  }

  /// Whether the only line end is the last byte, as echo(1) writes it.
  var isLineWithEnd: Bool {
    withBytes { bytes in
      bytes.byteCount > 1 && (0..<bytes.byteCount).first { bytes.byte(at: $0) == 0x0A } == bytes.byteCount - 1
    }
  }
}

extension Descriptor {
  /// The size of a file, so that it is read in one piece. Nil for pipes and devices.
  fileprivate var expectedCount: Int? {
    var status = stat()
    guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return max(0, Int(status.st_size))
  }
}
