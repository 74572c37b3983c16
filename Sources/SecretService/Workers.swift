import CofferFiles
import MessageBus
import Synchronization

/// Runs calls on a few threads. The changes of one sender keep their order, and its calls take no thread from others while these wait.
final class Workers: Sendable {
  /// Threads at most, each with a connection to the agent.
  static let maximumThreads = 8
  /// Calls of one sender that are carried out at the same time: one that waits for the owner must not hold up all others.
  static let maximumRunning = 4
  /// Calls of one sender that are not answered.
  static let maximumCalls = 64

  struct Job: Sendable {
    let sender: String
    let isChange: Bool
    /// Returns whether the call is answered; otherwise it is handed to `resume` or `release` later.
    let run: @Sendable () -> Bool
  }

  /// A thread without a call. The next one comes soon, as a rule, and a new thread would take a fifth of its time.
  fileprivate final class Idle: Sendable {
    let notifier: EventNotifier
    let job = Mutex<Job?>(nil)

    /// nil if the process has no descriptor left.
    init?() {
      guard let notifier = EventNotifier() else { return nil }
      self.notifier = notifier
    }

    func give(_ job: Job) {
      self.job.withLock { $0 = job }
      notifier.call()
    }
  }

  /// How long a thread without a call stays.
  private let idleMilliseconds: Int32

  fileprivate struct Running {
    var count = 0
    var isChange = false
  }

  fileprivate struct State {
    var waiting: [Job] = []
    var running: [String: Running] = [:]
    var threads = 0
    var counts: [String: Int] = [:]
    var idle: [Idle] = []
  }

  private let state = Mutex(State())

  init(idleMilliseconds: Int32 = 1000) { self.idleMilliseconds = idleMilliseconds }

  /// `begin` starts it.
  /// - Throws: `BusError`: `limitsExceeded`.
  func submit(_ job: Job) throws(BusError) {
    let isFull = state.withLock { state in
      guard state.counts[job.sender, default: 0] < Self.maximumCalls else { return true }
      state.counts[job.sender, default: 0] += 1
      state.waiting.append(job)
      return false
    }
    guard !isFull else { throw .limitsExceeded("more than \(Self.maximumCalls) calls at once") }
  }

  /// Starts the jobs that were submitted.
  /// - Parameter mayTake: Whether the caller carries out one that is alone. Threads take others meanwhile.
  /// - Returns: The job for the caller, if there is one.
  func begin(mayTake: Bool) -> (() -> Void)? {
    let alone = mayTake ? state.withLock { $0.waiting.count == 1 ? $0.take(startingThread: false) : nil } : nil
    guard let job = alone else {
      start()
      return nil
    }
    return { [self] in
      let isAnswered = job.run()
      state.withLock { $0.finish(job, isAnswered) }
      start()
    }
  }

  /// Whether each call is answered.
  var isIdle: Bool { state.withLock { $0.counts.isEmpty } }

  /// Goes on with a call that waits.
  func resume(_ job: Job) {
    state.withLock { $0.waiting.append(job) }
    start()
  }

  /// A call that waits was answered.
  func release(_ sender: String) { state.withLock { $0.release(sender) } }

  private func start() {
    while let (job, idle) = state.withLock({ state in state.take(startingThread: true).map { ($0, state.idle.popLast()) } }) {
      if let idle {
        idle.give(job)
      } else if !DetachedThread.start("coffer-secrets", { self.work(job, Idle()) }) {
        // On this thread: late, but done.
        work(job, nil)
      }
    }
  }

  /// - Parameter idle: The place in which the thread gets another call afterwards; nil: it takes none.
  private func work(_ first: Job, _ idle: Idle?) {
    var job = first
    while true {
      let isAnswered = job.run()
      let next = state.withLock { state -> Job? in
        state.finish(job, isAnswered)
        guard let next = state.take(startingThread: false) else {
          state.threads -= 1
          if let idle { state.idle.append(idle) }
          return nil
        }
        return next
      }
      start()
      guard let next = next ?? idle.flatMap({ given(to: $0) }) else { return }
      job = next
    }
  }

  /// - Returns: nil if none was given in time.
  private func given(to idle: Idle) -> Job? {
    if !idle.notifier.wait(milliseconds: idleMilliseconds).isCalled {
      let isStillIdle = state.withLock { state in
        let index = state.idle.firstIndex { $0 === idle }
        if let index { state.idle.remove(at: index) }
        return index != nil
      }
      if isStillIdle { return nil }
      // Given at the same moment.
      _ = idle.notifier.wait()
    }
    idle.notifier.clear()
    return idle.job.withLock { $0.take() }
  }
}

extension Workers.State {
  /// The first job that may run now.
  fileprivate mutating func take(startingThread: Bool) -> Workers.Job? {
    guard !startingThread || threads < Workers.maximumThreads else { return nil }
    var blocked: Set<String> = []
    for (index, job) in waiting.enumerated() where !blocked.contains(job.sender) {
      let now = running[job.sender] ?? Workers.Running()
      let isFree = job.isChange ? now.count == 0 : !now.isChange && now.count < Workers.maximumRunning
      guard isFree else {
        blocked.insert(job.sender)
        continue
      }
      waiting.remove(at: index)
      running[job.sender] = Workers.Running(count: now.count + 1, isChange: job.isChange)
      if startingThread { threads += 1 }
      return job
    }
    return nil
  }

  fileprivate mutating func finish(_ job: Workers.Job, _ isAnswered: Bool) {
    if let now = running[job.sender] {
      running[job.sender] = now.count > 1 ? Workers.Running(count: now.count - 1, isChange: false) : nil
    }
    if isAnswered { release(job.sender) }
  }

  fileprivate mutating func release(_ sender: String) {
    if let count = counts[sender] { counts[sender] = count > 1 ? count - 1 : nil }
  }
}
