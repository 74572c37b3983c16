public import SecretMemory

/// A note, kept outside the vault, of the newest state that was seen: tells a genuine but older file from the current one.
/// 96 bytes; Section 11 of FORMAT.md.
package struct Anchor {
  static let byteCount = 96
  private static let magic = Array("CofferA1".utf8)

  let vault: Identifier
  let generation: UInt64
  let mac: Digest
  private(set) var isProven = true

  package init(_ header: SealedHeader) {
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

  package func sealed(with keys: IntegrityKeys) -> [UInt8] {
    authenticated + keys.anchorMAC(authenticated).bytes
  }

  /// - Throws: `anchorOtherVault`, `anchorOtherKeys`, `anchorDamaged`.
  /// - Parameter header: Its master key may be newer than the one that the anchor was sealed with.
  init(parsing bytes: [UInt8], keys: IntegrityKeys, for header: Header? = nil) throws(VaultError) {
    guard bytes.count == Self.byteCount else { throw VaultError(.anchorDamaged, "\(bytes.count) bytes") }
    var reader = ByteReader(bytes, orThrow: .anchorDamaged)
    guard try reader.read(8) == ArraySlice(Self.magic) else { throw VaultError(.anchorDamaged) }
    vault = try reader.readIdentifier()
    generation = try reader.readInteger()
    mac = try reader.readDigest()
    let authenticator = try reader.readDigest()
    // The vault's name first: the anchor of another vault was made with other keys.
    guard vault == keys.vault else { throw VaultError(.anchorOtherVault, "\(vault)") }
    isProven = keys.anchorMAC(authenticated) == authenticator
    let isOlder = header.map { $0.masterEpoch > 1 && generation < $0.generation } ?? false
    guard isProven || isOlder else { throw VaultError(.anchorOtherKeys, "generation \(generation) was seen") }
  }

  /// The bytes that replace an anchor; nil if it is as new. Another process may have seen more of the vault since.
  static func replacement(of there: [UInt8]?, by newest: SealedHeader, _ keys: IntegrityKeys) -> [UInt8]? {
    let anchor = there.flatMap { try? Anchor(parsing: $0, keys: keys) }
    guard anchor.map({ $0.generation < newest.header.generation }) ?? true else { return nil }
    return Anchor(newest).sealed(with: keys)
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

/// The anchors of earlier states. They are loaded before the state that they are compared with, because a commit in between
/// would look like a rollback.
package struct SeenBefore {
  /// The note of the path; nil if nothing was opened there.
  private let lastVault: [UInt8]?
  private let anchor: [UInt8]

  package init(_ store: any AnchorStore, of vault: Identifier) throws {
    let note = try store.lastVault() ?? []
    lastVault = note.isEmpty ? nil : note
    anchor = try store.load(vault) ?? []
  }

  /// - Returns: and the generation that needs no saving.
  package func check(_ state: ProvenState, _ rows: SlotRows) -> (RollbackCheck, saved: UInt64) {
    let isNoted = lastVault == state.header.vault.bytes
    var seen: UInt64?
    do throws(VaultError) {
      if let lastVault, !isNoted {
        throw VaultError(lastVault.count == Identifier.byteCount ? .anchorOtherVault : .anchorDamaged, "the vault seen here last")
      }
      guard !anchor.isEmpty else { return (.noAnchor, 0) }
      let anchor = try Anchor(parsing: anchor, keys: state.keys.integrity, for: state.header)
      seen = anchor.generation
      if !anchor.isProven, rows.mac(ofGeneration: anchor.generation, before: state.header.generation) ?? anchor.mac != anchor.mac
      {
        throw VaultError(.anchorOtherKeys)
      }
      let check = try Anchor.compare(anchor.generation, anchor.mac, with: state, rows)
      return (check, isNoted && anchor.isProven ? anchor.generation : 0)
    } catch {
      return (.refused(Rollback(reason: error, present: state.header.generation, seen: seen, wasSeenHere: isNoted)), 0)
    }
  }
}

/// The reason why an anchor rejects a state of the vault.
public struct Rollback: Equatable, Sendable {
  /// `anchorOtherVault`, `anchorOtherKeys`, `anchorDamaged`, `rolledBack` or `forked`.
  public let reason: VaultError
  /// The generation of the vault as it is.
  public let present: UInt64
  /// The generation that was seen last; nil if the anchor does not tell.
  public let seen: UInt64?
  /// Whether this vault was opened at this path before. If not, the file may be a copy of one that lies elsewhere.
  public let wasSeenHere: Bool
}

/// The result of comparing the rollback anchor when a vault was opened.
public enum RollbackCheck: Equatable, Sendable {
  /// No anchor was given, or none existed yet.
  case noAnchor
  /// The state is the anchored one, or continues it.
  case passed
  /// The anchor is more than 64 generations behind: the state is newer, but cannot be shown to continue it.
  case tooFarBehind
  /// The vault was opened as a copy, and would be refused otherwise.
  case refused(Rollback)
}
