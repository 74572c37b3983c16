import CGcrypt
import MessageBus
import SecretMemory

/// The key agreement of the algorithm `dh-ietf1024-sha256-aes128-cbc-pkcs7`: Diffie and Hellman's in the second group of RFC 2409, and
/// HKDF (RFC 5869) with SHA-256.
///
/// It hides secrets from programs that record what goes over the bus. It does not from one that answers in the place of a side.
enum KeyAgreement {
  static let byteCount = 128
  static let keyByteCount = 16

  /// RFC 2409, 6.2.
  private static let prime =
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DDEF9519B3CD3A431B302B0A6DF25F1437"
    + "4FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7EDEE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF"

  /// The numbers of this side.
  final class Side {
    let publicNumber: Secret
    private let own: Number
    private let prime: Number

    /// - Throws: `BusError`: `failed`; `VaultError`.
    init() throws {
      try Gcrypt.start()
      prime = try Number(hexadecimal: KeyAgreement.prime)
      own = try Number(capacity: 8 * byteCount)
      unsafe gcry_mpi_randomize(own.pointer, UInt32(8 * byteCount - 1), GCRY_STRONG_RANDOM)
      let base = try Number(capacity: 8)
      unsafe gcry_mpi_set_ui(base.pointer, 2)
      let sent = try Number(capacity: 8 * byteCount)
      unsafe gcry_mpi_powm(sent.pointer, base.pointer, own.pointer, prime.pointer)
      publicNumber = try sent.padded()
    }

    /// The key of the session.
    /// - Parameter peer: The public number of the other side, whose zeros at the front may be left out.
    /// - Throws: `BusError`: `invalidArguments` for a number that makes the key known to everybody; `failed`, `VaultError`.
    func key(with peer: borrowing Secret) throws -> Secret {
      guard (1...byteCount).contains(peer.count) else {
        throw BusError.invalidArguments("the public key has \(peer.count) bytes")
      }
      let other = try Number(peer)
      let last = try Number(capacity: 8 * byteCount)
      unsafe gcry_mpi_sub_ui(last.pointer, prime.pointer, 1)
      guard unsafe gcry_mpi_cmp_ui(other.pointer, 1) > 0, unsafe gcry_mpi_cmp(other.pointer, last.pointer) < 0 else {
        throw BusError.invalidArguments("the public key makes no secret")
      }
      let shared = try Number(capacity: 8 * byteCount)
      unsafe gcry_mpi_powm(shared.pointer, other.pointer, own.pointer, prime.pointer)
      return try KeyAgreement.key(from: try shared.padded())
    }
  }

  /// - Parameter shared: The shared number, with zeros at the front.
  static func key(from shared: borrowing Secret) throws -> Secret {
    let salt = try Secret(count: 32)
    let extracted = try Gcrypt.authenticate(shared, key: salt)
    var one = try Secret(count: 1)
    one.withMutableBytes { unsafe $0.withUnsafeMutableBytes { unsafe $0[0] = 1 } }
    var key = try Gcrypt.authenticate(one, key: extracted)
    key.truncate(to: keyByteCount)
    return key
  }

  /// A number in libgcrypt's locked memory.
  @safe private final class Number {
    let pointer: OpaquePointer

    init(capacity bits: Int) throws {
      guard let pointer = unsafe gcry_mpi_snew(UInt32(bits)) else { throw BusError.limitsExceeded("no memory for a key") }
      unsafe self.pointer = unsafe pointer
    }

    init(_ bytes: borrowing Secret) throws {
      var pointer: OpaquePointer?
      let result = bytes.withBytes { span in
        unsafe span.withUnsafeBytes { unsafe gcry_mpi_scan(&pointer, GCRYMPI_FMT_USG, $0.baseAddress, $0.count, nil) }
      }
      guard result == 0, let pointer = unsafe pointer else { throw BusError.invalidArguments("the public key is malformed") }
      unsafe self.pointer = unsafe pointer
    }

    init(hexadecimal: String) throws {
      var pointer: OpaquePointer?
      let result = unsafe hexadecimal.withCString { unsafe gcry_mpi_scan(&pointer, GCRYMPI_FMT_HEX, $0, 0, nil) }
      guard result == 0, let pointer = unsafe pointer else { throw BusError.failed("the group of the key agreement") }
      unsafe self.pointer = unsafe pointer
    }

    deinit { unsafe gcry_mpi_release(pointer) }

    /// libgcrypt leaves out zeros at the front, and the hash of a number without them is another one.
    func padded() throws -> Secret {
      let count = (Int(unsafe gcry_mpi_get_nbits(pointer)) + 7) / 8
      return try Secret(capacity: byteCount) { span in
        let result = unsafe span.withUnsafeMutableBytes {
          unsafe gcry_mpi_print(GCRYMPI_FMT_USG, $0.baseAddress! + (byteCount - count), count, nil, pointer)
        }
        guard result == 0 else { throw BusError.failed("a key cannot be written") }
        return byteCount
      }
    }
  }
}
