import CLinux
import CofferRequests
import Glibc
package import Pinentry
import SecretMemory
import Synchronization
import VaultCore

/// Asks the owner before something is done that the owner wants to be asked about.
package final class OwnerQuestions: Sendable {
  /// The owner's time for an answer, and how long a question waits for its turn before.
  static let seconds = 60
  /// No lease is longer, whatever an item says.
  package static let maximumMinutes = 60 * 24 * 365

  /// The outcome of a question, for the log.
  package struct Event: Sendable {
    package enum Outcome: Equatable, Sendable {
      case asked
      /// The owner, now.
      case allowed(String)
      /// The owner refused now, or did not answer.
      case refused(String)
      case agreedBefore(String)
      /// The owner was not asked, because of an answer a short while ago, or because there is no way to ask.
      case notAsked(String)
    }
    package let outcome: Outcome
    package let program: ProgramIdentity
    package let peer: Peer
    package let group: String
  }

  private struct State {
    /// Where the owner was when the vault was unlocked.
    var display: Display?
    var leases = Leases()
  }

  private let vault: String
  private let minutes: Int
  private let ownDisplay: Display
  private let user: UInt32
  private let pinentry: @Sendable () throws(PinentryError) -> PinentryProgram
  private let clock: @Sendable () -> Int64
  private let log: @Sendable (Event) throws -> Void
  private let state = Mutex(State())
  let queue = FairQueue(milliseconds: Int32(seconds) * 1000)

  /// - Parameters:
  ///   - vault: Its file, as the owner reads it.
  ///   - minutes: The time that the owner may agree for, if the item has none of its own. 0: only once.
  ///   - display: The display of the agent's start: used until the vault is unlocked from another one.
  ///   - pinentry: The program, looked for when it is needed.
  ///   - clock: Milliseconds; goes on while the machine sleeps.
  ///   - log: Called before the effect; if it throws, nothing is done.
  package init(
    vault: String, minutes: Int, display: Display, user: UInt32 = geteuid(),
    pinentry: @escaping @Sendable () throws(PinentryError) -> PinentryProgram,
    clock: @escaping @Sendable () -> Int64 = AgentVault.clock, log: @escaping @Sendable (Event) throws -> Void
  ) {
    (self.vault, self.minutes) = (vault, minutes)
    ownDisplay = display
    self.user = user
    self.pinentry = pinentry
    self.clock = clock
    self.log = log
  }

  /// Sets the owner's display. Not called for a key file alone: a program would be asked about its own requests.
  func ownerIs(at display: Display) {
    guard display.isKnown else { return }
    state.withLock { $0.display = display }
  }

  /// - Parameter lockCount: How often the vault has been locked.
  func leases(lockCount: UInt64) -> [Leases.Open] {
    let now = clock()
    return state.withLock { $0.leases.open(lockCount: lockCount, at: now) }
  }

  /// Later requests that it covered are asked about again.
  func endLease(_ number: UInt64) { state.withLock { $0.leases.end(number) } }

  /// Returns if the owner agrees, or has agreed for a time.
  /// - Parameters:
  ///   - lockCount: How often the vault had been locked when the question came up.
  ///   - connection: The requester's connection.
  /// - Throws: `KeychainError`: `confirmationNeeded` if there is no answer, `confirmationRefused`; errors of the log.
  func confirm(
    _ confirmation: Confirmation, of program: ProgramIdentity, _ peer: Peer, lockCount: UInt64, connection: Int32
  ) throws {
    let log = { [log] (outcome: Event.Outcome) in
      try log(Event(outcome: outcome, program: program, peer: peer, group: confirmation.group.name))
    }
    if try isKnown(confirmation, program, lockCount, log) { return }
    let places: [Place]
    do throws(PinentryError) {
      places = try self.places(for: peer)
    } catch {
      try log(.notAsked("the owner cannot be asked: \(error.words)"))
      throw KeychainError(.confirmationNeeded, "the owner cannot be asked: \(error.words)")
    }
    do {
      try queue.inTurn(program, connection) {
        // The question may have been answered meanwhile.
        if try isKnown(confirmation, program, lockCount, log) { return }
        try log(.asked)
        try ask(places, confirmation, program, lockCount, connection, log)
      }
    } catch let failure as FairQueue.Failure {
      try log(.notAsked("not asked: \(failure)"))
      throw KeychainError(.confirmationNeeded, "others are being asked about: \(failure)")
    }
  }

  /// Whether the owner has agreed before.
  private func isKnown(
    _ confirmation: Confirmation, _ program: ProgramIdentity, _ lockCount: UInt64, _ log: (Event.Outcome) throws -> Void
  ) throws -> Bool {
    let now = clock()
    let (isCovered, quiet) = state.withLock { state in
      (
        state.leases.cover(confirmation, program, lockCount: lockCount, at: now),
        state.leases.quiet(confirmation, program, at: now)
      )
    }
    if isCovered {
      try log(.agreedBefore("agreed before"))
      return true
    }
    switch quiet {
    case nil: return false
    case .refused:
      try log(.notAsked("refused before"))
      throw KeychainError(.confirmationRefused, "a short while ago")
    case .unanswered:
      try log(.notAsked("not answered before"))
      throw KeychainError(.confirmationNeeded, "a question was left unanswered a short while ago")
    }
  }

  private func ask(
    _ places: [Place], _ confirmation: Confirmation, _ program: ProgramIdentity, _ lockCount: UInt64, _ connection: Int32,
    _ log: (Event.Outcome) throws -> Void
  ) throws {
    let longest = confirmation.minutes.map { Int(min($0, UInt64(Self.maximumMinutes))) } ?? minutes
    let minutes = program.canBeRemembered ? longest : 0
    let choice: Pinentry.Choice
    do {
      choice = try choose(
        places, QuestionText.question(confirmation, program, vault: vault, minutes: minutes),
        QuestionText.words(minutes: minutes),
        connection)
    } catch {
      let error = error as? PinentryError ?? PinentryError(.failed, "\(error)")
      guard error.code != .background else {
        suppress(confirmation, program, .refused)
        try log(.refused(error.words))
        throw KeychainError(.confirmationRefused, error.words)
      }
      // Also who goes away, and would come again to have the owner interrupted.
      let isQuiet = [PinentryError.Code.timedOut, .silent, .withdrawn].contains(error.code)
      if isQuiet { suppress(confirmation, program, .unanswered) }
      try log(isQuiet ? .refused("no answer: \(error.words)") : .notAsked("the owner cannot be asked: \(error.words)"))
      throw KeychainError(
        .confirmationNeeded, isQuiet ? "the question was not answered" : "the owner cannot be asked: \(error.words)")
    }
    switch choice {
    case .first: try log(.allowed("once"))
    case .second:
      try log(.allowed("for \(minutes) minutes"))
      let now = clock()
      state.withLock { $0.leases.allow(confirmation, program, minutes: minutes, lockCount: lockCount, at: now) }
    case .refused:
      suppress(confirmation, program, .refused)
      try log(.refused("refused"))
      throw KeychainError(.confirmationRefused)
    }
  }

  private func suppress(_ confirmation: Confirmation, _ program: ProgramIdentity, _ why: Leases.Quiet) {
    let now = clock()
    state.withLock { $0.leases.suppress(confirmation, program, why, at: now) }
  }

  // MARK: Where

  /// One way to show a question.
  private struct Place {
    let pinentry: Pinentry
    /// Nil: always. A terminal serves only the program in its foreground: what is typed there is meant for that.
    let isWanted: (() -> Bool)?
  }

  /// The display first, and then the terminal, alone: a pinentry that has both goes from one to the other by itself.
  /// - Throws: `PinentryError`: `noProgram`, `noDisplay`, `background`.
  private func places(for peer: Peer) throws(PinentryError) -> [Place] {
    let display = display()
    guard display.isKnown else { throw PinentryError(.noDisplay) }
    let program = try pinentry()
    var places: [Place] = []
    if let window = display.atDisplay { places.append(Place(pinentry: try Pinentry(program, at: window), isWanted: nil)) }
    if let terminal = display.atTerminal, let path = terminal.terminal, peer.isInForeground(of: path) {
      places.append(Place(pinentry: try Pinentry(program, at: terminal)) { peer.isInForeground(of: path) })
    }
    guard !places.isEmpty else { throw PinentryError(.background) }
    return places
  }

  /// The next place follows if a pinentry does not work at one.
  private func choose(
    _ places: [Place], _ question: Pinentry.Question, _ words: Pinentry.Words, _ connection: Int32
  ) throws -> Pinentry.Choice {
    for (index, place) in places.enumerated() {
      if let isWanted = place.isWanted { guard isWanted() else { break } }
      do {
        return try place.pinentry.choose(
          question, words, seconds: Self.seconds, withdrawal: connection, while: place.isWanted)
      } catch let error as PinentryError
        where index + 1 < places.count && [.failed, .ended, .malformed, .notStarted].contains(error.code)
      {
        continue
      }
    }
    throw PinentryError(.background)
  }

  /// The owner's, or the agent's own; never that of who asks.
  private func display() -> Display {
    let owners = state.withLock { $0.display }?.owned(by: user)
    if let owners, owners.isKnown { return owners }
    return ownDisplay.owned(by: user)
  }
}
