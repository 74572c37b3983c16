import AccessRights
import CofferConsole
import ProgramSecrets
import SecretMemory

/// The file of a team's key: sixteen bytes that name the format, and the seed. A key file of a vault may be any 32 bytes, and would be a
/// team's key too without them.
enum TeamKeyFile {
  private static let start = "coffer team key\n"
  private static let seedByteCount = 32

  static func write(_ key: borrowing TeamSigningKey, to file: Descriptor) throws {
    try file.write(start)
    try key.copySeed().withBytes { try file.write($0) }
  }

  /// Reads and closes it.
  /// - Throws: usage, for any other file.
  static func read(_ file: Descriptor) throws -> TeamSigningKey {
    let content = try Secret.readingFile(file)
    let expected = Array(start.utf8)
    let isTeamKey = content.withBytes { bytes in
      bytes.byteCount == expected.count + seedByteCount && expected.indices.allSatisfy { bytes.byte(at: $0) == expected[$0] }
    }
    guard isTeamKey else {
      throw Failure.usage(
        "\(file.name): is not a team's key", hint: "coffer app keygen makes one; a vault's key file is another thing")
    }
    var seed = try Secret(count: seedByteCount)
    seed.withMutableBytes { span in
      content.withBytes { bytes in
        for index in 0..<seedByteCount {
          span.storeBytes(of: bytes.byte(at: expected.count + index), toByteOffset: index, as: UInt8.self)
        }
      }
    }
    return try TeamSigningKey(seed: seed)
  }
}
