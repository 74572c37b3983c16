import CofferStorage
import Glibc
public import SecretMemory
public import VaultCore

/// Vaults of a given number of items, created once and kept in a directory.
public struct SampleVault {
  /// The number of items per commit while a vault is created.
  private static let batchCount = 10_000

  public let path: String
  public let itemCount: Int

  /// Creates the vault, unless an earlier run has.
  public init(itemCount: Int, in directory: String) throws {
    self.itemCount = itemCount
    path = "\(directory)/\(itemCount).coffer"
    if access(path, F_OK) != 0 { try make() }
  }

  private init(path: String, itemCount: Int) {
    self.path = path
    self.itemCount = itemCount
  }

  private func make() throws {
    let temporary = "\(path).unfinished"
    unlink(temporary)
    let start = ContinuousClock.now
    do {
      let store = try FileStore.create(at: temporary)
      var vault = try Vault.create(in: store, with: try Self.keyFile(), at: Self.time)
      for first in stride(from: 0, to: itemCount, by: Self.batchCount) {
        try vault.transaction { transaction in
          for index in first..<min(first + Self.batchCount, itemCount) {
            try transaction.add(Self.item(index), secret: try Self.secret(index), at: Self.time)
          }
        }
      }
      try store.checkpoint()
    }
    let seconds = Samples.seconds(ContinuousClock.now - start)
    unlink("\(temporary).lock")
    guard rename(temporary, path) == 0, let note = fopen("\(path).seconds", "w") else { throw BenchmarkError("rename: \(path)") }
    fputs("\(seconds)\n", note)
    fclose(note)
  }

  /// The time to create it, in nanoseconds.
  public var loadTime: Double {
    (Machine.lines(of: "\(path).seconds").first.flatMap { Double($0) } ?? .nan) * 1e9
  }

  /// A copy that may be changed.
  public func copy(to path: String) throws -> SampleVault {
    for suffix in ["", "-wal", "-shm", "-journal", ".lock"] { unlink(path + suffix) }
    let source = Glibc.open(self.path, O_RDONLY)
    let target = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    // The writers' lock file, which lies beside each vault that was ever written to.
    let lock = Glibc.open(path + ".lock", O_WRONLY | O_CREAT | O_EXCL, 0o600)
    defer {
      close(source)
      close(target)
      close(lock)
    }
    while true {
      let count = sendfile(target, source, nil, 1 << 30)
      guard count >= 0 else { throw BenchmarkError("copy: \(path)") }
      if count == 0 { break }
    }
    // Written to the disk now, so that no write-back happens during a measurement.
    fsync(target)
    return SampleVault(path: path, itemCount: itemCount)
  }

  public func open() throws -> Vault {
    try Vault.open(try FileStore(at: path), with: try Self.keyFile())
  }

  public static let time = Timestamp(secondsSince1970: 1_700_000_000)
  public static let keyFileBytes = [UInt8](repeating: 0x42, count: 64)

  public static func keyFile() throws -> Credential {
    try .keyFile(Secret(copying: keyFileBytes.span.bytes))
  }

  public static func name(_ index: Int) -> (service: String, account: String) {
    ("service-\(index / 10).example.org", "user-\(index)")
  }

  public static func item(_ index: Int) -> Item {
    let name = name(index)
    return Item(service: name.service, account: name.account)
  }

  /// 24 bytes, like a generated password.
  public static func secret(_ index: Int) throws -> Secret {
    let text = String(index + 1_000_000_000)
    let bytes = Array(text.utf8) + [UInt8](repeating: 0x2A, count: 24 - text.utf8.count)
    return try Secret(copying: bytes.span.bytes)
  }
}

extension Samples {
  public static func seconds(_ duration: Duration) -> Double {
    Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
  }
}

public struct BenchmarkError: Error, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}
