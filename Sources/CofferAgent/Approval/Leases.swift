import AccessRights
import CofferRequests
import VaultCore

/// The owner's agreements and refusals that are valid for a time. A value; the time is an argument.
struct Leases {
  /// For how long who was refused, or got no answer, is not asked about again, in milliseconds.
  static let quietMilliseconds: Int64 = 60_000

  /// Why the owner is not asked again so soon.
  enum Quiet: Equatable { case refused, unanswered }

  private struct Key: Hashable {
    let program: ProgramIdentity
    let subject: Confirmation.Subject

    init(_ confirmation: Confirmation, _ program: ProgramIdentity) {
      self.program = program
      subject = confirmation.subject
    }
  }

  /// The conditions of an agreement, and its end.
  private struct Terms {
    let rights: Entitlements.Rights
    let minutes: UInt64?
    let grants: [Grant]
    let until: Int64

    init(_ confirmation: Confirmation, until: Int64) {
      (rights, minutes, grants) = (confirmation.rights, confirmation.minutes, confirmation.grants)
      self.until = until
    }

    func fit(_ confirmation: Confirmation, _ now: Int64) -> Bool {
      now < until && rights.isSuperset(of: confirmation.rights) && minutes == confirmation.minutes
        && grants == confirmation.grants
    }
  }

  /// One that holds, as it is shown to the owner.
  struct Open {
    let number: UInt64
    let program: ProgramIdentity
    let subject: Confirmation.Subject
    let rights: Entitlements.Rights
    let minutes: UInt64?
    let grants: [Grant]
    /// How long it holds.
    let milliseconds: Int64

    var group: AccessGroup {
      switch subject {
      case .group(let group): group
      case .item(let reference): reference.group
      }
    }
  }

  private var count: UInt64 = 0
  private var leases: [Key: [(terms: Terms, lockCount: UInt64, number: UInt64)]] = [:]
  private var silences: [Key: [(terms: Terms, why: Quiet)]] = [:]

  /// - Parameter lockCount: How often the vault has been locked: a lease ends with that.
  func cover(_ confirmation: Confirmation, _ program: ProgramIdentity, lockCount: UInt64, at now: Int64) -> Bool {
    leases[Key(confirmation, program), default: []].contains {
      $0.lockCount == lockCount && $0.terms.fit(confirmation, now)
    }
  }

  func quiet(_ confirmation: Confirmation, _ program: ProgramIdentity, at now: Int64) -> Quiet? {
    silences[Key(confirmation, program), default: []].last { $0.terms.fit(confirmation, now) }?.why
  }

  mutating func allow(
    _ confirmation: Confirmation, _ program: ProgramIdentity, minutes: Int, lockCount: UInt64, at now: Int64
  ) {
    forget(now)
    let terms = Terms(confirmation, until: now + Int64(minutes) * 60_000)
    count += 1
    leases[Key(confirmation, program), default: []].append((terms, lockCount, count))
  }

  /// In the order in which they began.
  func open(lockCount: UInt64, at now: Int64) -> [Open] {
    leases.flatMap { key, all in
      all.filter { $0.lockCount == lockCount && now < $0.terms.until }.map {
        Open(
          number: $0.number, program: key.program, subject: key.subject, rights: $0.terms.rights, minutes: $0.terms.minutes,
          grants: $0.terms.grants, milliseconds: $0.terms.until - now)
      }
    }.sorted { $0.number < $1.number }
  }

  mutating func end(_ number: UInt64) {
    leases = leases.compactMapValues { all in all.filter { $0.number != number }.nonEmpty }
  }

  mutating func suppress(_ confirmation: Confirmation, _ program: ProgramIdentity, _ why: Quiet, at now: Int64) {
    forget(now)
    let terms = Terms(confirmation, until: now + Self.quietMilliseconds)
    silences[Key(confirmation, program), default: []].append((terms, why))
  }

  /// Drops agreements that have ended. Each one took an answer of the owner, so they are few.
  private mutating func forget(_ now: Int64) {
    leases = leases.compactMapValues { all in all.filter { now < $0.terms.until }.nonEmpty }
    silences = silences.compactMapValues { all in all.filter { now < $0.terms.until }.nonEmpty }
  }
}

extension Array {
  fileprivate var nonEmpty: Self? { isEmpty ? nil : self }
}
