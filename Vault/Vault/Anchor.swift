/// A note, kept outside the vault, of the newest state that was seen: tells a genuine but older file from the current one.
/// 96 bytes; FORMAT.md has the layout.
struct Anchor {
  static let byteCount = 96
  private static let magic = Array("CofferA1".utf8)

  let vault: Identifier
  let generation: UInt64
  let mac: Digest

  init(_ header: SealedHeader) {
    vault = header.header.vault
    generation = header.header.generation
    mac = header.mac
  }

  private var authenticated: [UInt8] {
    var bytes = Self.magic
    bytes.append(vault)
    bytes.append(littleEndian: generation)
    return bytes + mac.bytes
  }

  func sealed(with keys: IntegrityKeys) -> [UInt8] {
    authenticated + keys.anchorMAC(authenticated).bytes
  }

  /// - Throws: `anchorOtherVault`, `anchorDamaged`.
  init(parsing bytes: [UInt8], keys: IntegrityKeys) throws(VaultError) {
    guard bytes.count == Self.byteCount else { throw VaultError(.anchorDamaged, "\(bytes.count) bytes") }
    var reader = ByteReader(bytes, orThrow: .anchorDamaged)
    guard try reader.read(8) == ArraySlice(Self.magic) else { throw VaultError(.anchorDamaged) }
    vault = try reader.readIdentifier()
    generation = try reader.readInteger()
    mac = try reader.readDigest()
    let authenticator = try reader.readDigest()
    // The vault's name first: the anchor of another vault was made with other keys.
    guard vault == keys.vault else { throw VaultError(.anchorOtherVault, "\(vault)") }
    guard keys.anchorMAC(authenticated) == authenticator else { throw VaultError(.anchorDamaged) }
  }

  /// Whether a proven state continues an earlier one.
  /// - Throws: `rolledBack`, `forked`.
  static func compare(
    _ generation: UInt64, _ mac: Digest, with state: ProvenState, _ rows: SlotRows
  ) throws(VaultError) -> RollbackCheck {
    let current = state.header.generation
    if current < generation { throw VaultError(.rolledBack, "generation \(current), and \(generation) was seen before") }
    if current == generation {
      guard mac == state.mac else { throw VaultError(.forked, "generation \(current)") }
      return .passed
    }
    guard let past = rows.mac(ofGeneration: generation, before: current) else { return .tooFarBehind }
    guard past == mac else { throw VaultError(.forked, "since generation \(generation)") }
    return .passed
  }
}

/// What an anchor has against a state of the vault.
public struct Rollback: Sendable {
  /// `anchorOtherVault`, `anchorDamaged`, `rolledBack` or `forked`.
  public let reason: VaultError
  /// The generation of the vault as it is.
  public let present: UInt64
  /// The generation that was seen last; nil where the anchor does not tell.
  public let seen: UInt64?

  /// Nil where it has nothing against it.
  init?(_ anchor: [UInt8], _ state: ProvenState, _ rows: SlotRows) throws(VaultError) {
    guard !anchor.isEmpty else { return nil }
    var seen: UInt64?
    do throws(VaultError) {
      let anchor = try Anchor(parsing: anchor, keys: state.keys.integrity)
      seen = anchor.generation
      _ = try Anchor.compare(anchor.generation, anchor.mac, with: state, rows)
      return nil
    } catch {
      reason = error
    }
    present = state.header.generation
    self.seen = seen
  }
}

/// What the rollback anchor said when a vault was opened.
public enum RollbackCheck: Sendable {
  /// No anchor was given, or none existed yet.
  case noAnchor
  /// The state is the anchored one, or continues it.
  case passed
  /// The anchor is more than 64 generations behind: the state is newer, but cannot be shown to continue it.
  case tooFarBehind
}
