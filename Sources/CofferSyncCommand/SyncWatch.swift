import ArgumentParser
import Coffer
import CofferConsole
import CofferFiles
import Glibc
import Synchronization
import VaultCore
import VaultSync

struct SyncWatch: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Send and take changes as they are made, until it is ended.",
    discussion: """
      Waits if the vault is locked, no agent runs, or the engine is away, and goes on by itself. It asks nothing, and prints what a \
      person has to know. systemctl --user enable --now coffer-sync.service runs it.
      """)

  @OptionGroup var space: SpaceOptions

  func run() throws {
    guard let wakeUp = EventNotifier(), let end = EndSignal(tell: { wakeUp.call() }) else {
      throw Failure(.other, "no thread or no descriptor is left")
    }
    try SpaceWatch(space.identifier(), wakeUp, end).run()
  }
}

/// For the thread that notices it.
private final class Replacement: Sendable {
  let hasCome = Atomic(false)
}

/// Waits for changes of the vault, of the logs, and for the end.
final class SpaceWatch {
  /// In milliseconds: an agent that is away may come back at another socket.
  private static let agentPause = 60_000

  /// nil for all.
  private let space: Identifier?
  private let wakeUp: EventNotifier
  private let end: EndSignal
  private var keychain: Keychain
  private var news: VaultNews
  private var followers: [Identifier: SpaceFollower] = [:]
  /// An upgrade has put another file in the place of this program.
  private let replacement = Replacement()
  /// When the keys in the vault are looked at for other spaces.
  private var spacesDue: Deadline? = Deadline(milliseconds: 0)
  private var told = ToldMessage()
  /// Whether the vault was locked, or no agent was there, when it was asked last.
  private var isAway = false

  init(_ space: Identifier?, _ wakeUp: EventNotifier, _ end: EndSignal) throws {
    (self.space, self.wakeUp, self.end) = (space, wakeUp, end)
    (keychain, news) = try Self.connect(wakeUp)
    Hardening.hide()
  }

  private var arguments: [String] { ["watch"] + (space.map { ["--space", $0.description] } ?? []) }

  private static func connect(_ wakeUp: EventNotifier) throws -> (Keychain, VaultNews) {
    let keychain = try OpenSpace.connect(visibility: Visibility())
    return (keychain, VaultNews(keychain) { wakeUp.call() })
  }

  func run() throws {
    ProgramReplacement.watch { [replacement, wakeUp] in
      replacement.hasCome.store(true, ordering: .releasing)
      wakeUp.call()
    }
    while !end.isHere {
      if replacement.hasCome.exchange(false, ordering: .acquiringAndReleasing) { ProgramReplacement.become(arguments) }
      hear()
      findSpaces()
      for follower in followers.values.sorted(by: { $0.space < $1.space }) where !isAway && !end.isHere { turn(follower) }
      wait()
    }
  }

  private func wait() {
    // Cleared before the news are taken, so that none is left behind.
    let all = Array(followers.values)
    var entries = [pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)]
    if !isAway {
      entries += all.map { pollfd(fd: $0.descriptor ?? -1, events: Int16(POLLIN), revents: 0) }
    }
    let deadlines = (isAway ? [] : all.flatMap(\.next)) + [spacesDue].compactMap { $0 }
    let count = UInt(entries.count)
    _ = unsafe poll(&entries, count, deadlines.map(\.left).min() ?? -1)
    wakeUp.clear()
    for (follower, entry) in zip(all, entries.dropFirst()) where entry.revents != 0 { follower.logHasChanged() }
  }

  private func hear() {
    let news = news.take()
    if news.areSpacesNew || news.isUnlocked { spacesDue = Deadline(milliseconds: 0) }
    if news.isLocked { goAway() }
    if news.isUnlocked { isAway = false }
    for follower in followers.values { follower.hear(news.changes) }
  }

  /// Nothing of the vault stays in memory.
  private func goAway() {
    isAway = true
    spacesDue = Deadline(milliseconds: Self.agentPause)
    for follower in followers.values { follower.forget() }
  }

  private func findSpaces() {
    guard let due = spacesDue, due.hasPassed else { return }
    spacesDue = nil
    do {
      if isAway { (keychain, news) = try Self.connect(wakeUp) }
      let found = try DeviceKeys.spaces(in: keychain).filter { space == nil || $0 == space }
      isAway = false
      told.tell(found.isEmpty ? waiting : "")
      followers = followers.filter { found.contains($0.key) }
      for space in found where followers[space] == nil { followers[space] = SpaceFollower(space) { [wakeUp] in wakeUp.call() } }
    } catch {
      // Printed before the first space was found alone: a vault is locked many times a day.
      told.tell(!error.isOfVault ? Failure(error).text : followers.isEmpty ? Self.locked : "")
      goAway()
    }
  }

  private static let locked = "note: the vault is locked, or no agent runs: waiting for coffer init, or coffer unlock\n"

  private var waiting: String {
    "note: this vault is not in \(space.map { "space \($0)" } ?? "a space") yet: waiting for coffer sync init, or coffer sync join\n"
  }

  private func turn(_ follower: SpaceFollower) {
    do {
      try follower.turn(keychain)
    } catch {
      goAway()
    }
  }
}

extension Error {
  /// Whether the vault is locked, or no agent answers: nothing can be done, and nothing is wrong.
  var isOfVault: Bool {
    guard let error = self as? KeychainError else { return false }
    return [.locked, .agent, .agentNotAnswering, .noVault].contains(error.code)
  }
}
