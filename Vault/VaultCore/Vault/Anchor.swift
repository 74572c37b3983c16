public import SecretMemory

/// A note, kept outside the vault, of the newest state that was seen: tells a genuine but older file from the current one.
/// 96 bytes; Section 11 of FORMAT.md.
package struct Anchor {
  static let byteCount = 96
  private static let magic = Array("CofferA1".utf8)

  let vault: Identifier
  let generation: UInt64
  let mac: Digest

  package init(_ header: SealedHeader) {
    (vault, generation, mac) = (header.header.vault, header.header.generation, header.mac)
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
  package init(parsing bytes: [UInt8], keys: IntegrityKeys) throws(VaultError) {
    guard bytes.count == Self.byteCount else { throw VaultError(.anchorDamaged, "\(bytes.count) bytes") }
    var reader = ByteReader(bytes, orThrow: .anchorDamaged)
    guard try reader.read(8) == ArraySlice(Self.magic) else { throw VaultError(.anchorDamaged) }
    (vault, generation, mac) = (try reader.readIdentifier(), try reader.readInteger(), try reader.readDigest())
    // The vault's name first: the anchor of another vault was made with other keys.
    guard vault == keys.vault else { throw VaultError(.anchorOtherVault, "\(vault)") }
    guard try keys.anchorMAC(authenticated) == reader.readDigest() else {
      throw VaultError(.anchorOtherKeys, "generation \(generation) was seen")
    }
  }

  /// The one anchor that there is or, while a master key is renewed, the one of two that the keys prove.
  /// - Returns: and the anchor behind it; nil if it is the second one, and the renewal was made.
  /// - Throws: as the initializer.
  static func proven(in bytes: [UInt8], _ keys: IntegrityKeys) throws(VaultError) -> (Anchor, next: [UInt8]?) {
    let next = bytes.count == 2 * byteCount ? Array(bytes.suffix(byteCount)) : []
    do { return (try Anchor(parsing: Array(bytes.dropLast(next.count)), keys: keys), next) } catch {
      guard !next.isEmpty, error.code == .anchorOtherKeys else { throw error }
      return (try Anchor(parsing: next, keys: keys), nil)
    }
  }

  /// The bytes that replace an anchor; nil if it is as new. Another process may have seen more of the vault since, or renewed its master key:
  /// an anchor under other keys stays.
  static func replacement(of there: [UInt8]?, by newest: SealedHeader, _ keys: IntegrityKeys) -> [UInt8]? {
    let new = Anchor(newest).sealed(with: keys)
    do {
      let (anchor, next) = try proven(in: there ?? [], keys)
      return next == nil || anchor.generation < newest.header.generation ? new + (next ?? []) : nil
    } catch { return error.code == .anchorOtherKeys ? nil : new }
  }

  /// Whether a proven state continues this one.
  /// - Throws: `rolledBack`, `forked`.
  func check(_ state: ProvenState, _ rows: SlotRows) throws(VaultError) -> RollbackCheck {
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
    lastVault = try store.lastVault().flatMap { $0.isEmpty ? nil : $0 }
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
      let (anchor, next) = try Anchor.proven(in: anchor, state.keys.integrity)
      seen = anchor.generation
      let check = try anchor.check(state, rows)
      return (check, isNoted && next != nil ? anchor.generation : 0)
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
