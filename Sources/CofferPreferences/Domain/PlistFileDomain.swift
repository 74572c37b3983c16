internal import CofferFiles
public import CofferPropertyLists
internal import Synchronization

/// A property list that this process only reads: managed settings, and those for all users.
///
/// It is read when the domain is opened, and again when `ChangeWatch` finds it changed. One that cannot be read counts as empty,
/// and `problem` has the reason.
///
/// Thread-safe.
public final class PlistFileDomain: PreferenceDomain, WatchedDomain {
  /// The path of the property list.
  public let path: String
  private let trust: ManagedTrust?
  private let observers = PreferenceObservers()
  private let state: Mutex<State>
  private let counter = Atomic<UInt64>(.random(in: 0 ... .max))

  private struct State {
    var values = PropertyListDictionary()
    var identity: FileIdentity?
    var problem: PreferenceError?
  }

  /// The domain in the property list at a path.
  public convenience init(path: String) { self.init(path: path, nil) }

  /// - Parameter trust: The required owner; a file that other users could have written counts as empty.
  init(path: String, _ trust: ManagedTrust?) {
    self.path = path
    self.trust = trust
    let state = Self.load(path, trust)
    self.state = Mutex(state)
    ChangeWatch.add(self)
    report(state.problem)
  }

  private func report(_ problem: PreferenceError?) {
    guard trust != nil, let problem else { return }
    PreferenceEvent.report([.managedIgnored(path: path, problem)])
  }

  public var stamp: UInt64 { counter.load(ordering: .acquiring) }
  public func value(forKey key: String) -> PropertyListValue? { state.withLock { $0.values[key] } }
  public func values() -> PropertyListDictionary { state.withLock { $0.values } }
  /// The reason why the values are missing. nil if they are not, or if there is no such file.
  public var problem: PreferenceError? { state.withLock { $0.problem } }

  public func observe(
    note: @escaping @Sendable (PreferenceChange) -> Void,
    tell: @escaping @Sendable (PreferenceChange.Origin, [String]) -> Void
  ) -> PreferenceObservation {
    observers.add(note: note, tell: tell)
  }

  private static func load(_ path: String, _ trust: ManagedTrust?) -> State {
    do throws(PreferenceError) {
      guard let list = try PlistFile(path: path, trust: trust).read() else { return State() }
      return State(values: list.values, identity: list.identity)
    } catch {
      return State(identity: (try? FileIdentity.at(path)) ?? nil, problem: error)
    }
  }

  /// Reads the file again if its identity has changed.
  private func reload() -> Bool {
    var news: PreferenceError?
    let keys = state.withLock { state -> [String] in
      guard (try? FileIdentity.at(path)) != state.identity || state.problem != nil else { return [] }
      let new = Self.load(path, trust)
      if new.problem != state.problem { news = new.problem }
      // The file is being written, or cannot be read any more: the previous values stay in force, for as long as the reason may pass.
      if let problem = new.problem, problem.code.mayPass || state.problem == nil && state.identity != nil {
        state.problem = problem
        return []
      }
      var changes = ChangeCollector(isWanted: true)
      changes.note(from: state.values, to: new.values)
      state = new
      counter.add(1, ordering: .releasing)
      let keys = changes.take()
      observers.note(.otherProcess, keys)
      return keys.map(\.name)
    }
    report(news)
    guard !keys.isEmpty else { return false }
    observers.tell(.otherProcess, keys)
    return true
  }

  var watchedDirectory: String { Path.parent(of: path) }

  func filesHaveChanged(_ names: Set<String>) -> Bool {
    names.isEmpty || names.contains(Path.name(of: path)) ? reload() : false
  }

  func lookAgain() -> Bool { isUnread ? reload() : false }
  var isUnread: Bool { problem?.code.mayPass == true }
  var isBeingWritten: Bool { false }
  var nextTime: UInt64 { 0 }
  func lookAfter(now: UInt64) -> UInt64 { 0 }
  func finish() {}
}
