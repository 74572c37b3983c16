import CofferFiles
import MessageBus
import Synchronization

/// Runs calls on a few threads, those of one sender after those of another. The changes of one sender keep their order.
final class Workers: Sendable {
  /// Threads at most, each with a connection to the agent.
  static let maximumThreads = 8
  /// Calls of one sender that are carried out at the same time: one that waits for the owner must not hold up all others.
  static let maximumRunning = 4
  /// Calls of one sender that are not answered: libsecret sends one for each item that it has found, all at once.
  static let maximumCalls = 16_384

  struct Job: Sendable {
    let sender: String
    let isChange: Bool
    /// Returns whether the call is answered; otherwise it is handed to `resume` or `release` later.
    let run: @Sendable () -> Bool
    /// The call is of no use any more.
    let drop: @Sendable () -> Void
  }

  /// The calls of a sender that wait, in their order.
  fileprivate struct Queue {
    private var jobs: [Job]
    /// The index of the first one that waits.
    private var start = 0

    init(_ job: Job) { jobs = [job] }

    var first: Job { jobs[start] }

    mutating func append(_ job: Job) { jobs.append(job) }

    /// - Returns: False if it was the last one.
    mutating func removeFirst() -> Bool {
      start += 1
      if start > jobs.count / 2 {
        jobs.removeFirst(start)
        start = 0
      }
      return start < jobs.count
    }

    /// - Returns: Those that are removed.
    mutating func removeReads() -> [Job] {
      let reads = jobs[start...].filter { !$0.isChange }
      (jobs, start) = (jobs[start...].filter(\.isChange), 0)
      return reads
    }

    var count: Int { jobs.count - start }
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
    var waiting: [String: Queue] = [:]
    /// The senders of the calls that wait: the one whose turn it is comes first.
    var turns: [String] = []
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
      state.append(job)
      return false
    }
    guard !isFull else { throw .limitsExceeded("more than \(Self.maximumCalls) calls at once") }
  }

  /// Starts the jobs that were submitted.
  /// - Parameter mayTake: Whether the caller carries out one that is alone. Threads take others meanwhile.
  /// - Returns: The job for the caller, if there is one.
  func begin(mayTake: Bool) -> (() -> Void)? {
    let alone = mayTake ? state.withLock { $0.isAlone ? $0.take(startingThread: false) : nil } : nil
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
    state.withLock { $0.append(job) }
    start()
  }

  /// Drops the calls of a sender that has gone, but for changes: a program need not wait for the answer.
  func forget(_ sender: String) {
    let reads = state.withLock { state -> [Job] in
      let reads = state.removeReads(of: sender)
      for _ in reads { state.release(sender) }
      return reads
    }
    for job in reads { job.drop() }
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
  /// Whether one call waits.
  fileprivate var isAlone: Bool { turns.count == 1 && waiting[turns[0]]?.count == 1 }

  fileprivate mutating func append(_ job: Workers.Job) {
    if waiting[job.sender] == nil {
      waiting[job.sender] = Workers.Queue(job)
      turns.append(job.sender)
    } else {
      waiting[job.sender]?.append(job)
    }
  }

  /// The first job that may run now. Its sender is the last one then.
  fileprivate mutating func take(startingThread: Bool) -> Workers.Job? {
    guard !startingThread || threads < Workers.maximumThreads else { return nil }
    for (index, sender) in turns.enumerated() {
      guard let job = waiting[sender]?.first else { continue }
      let now = running[sender] ?? Workers.Running()
      let isFree = job.isChange ? now.count == 0 : !now.isChange && now.count < Workers.maximumRunning
      guard isFree else { continue }
      turns.remove(at: index)
      if waiting[sender]?.removeFirst() == true { turns.append(sender) } else { waiting[sender] = nil }
      running[sender] = Workers.Running(count: now.count + 1, isChange: job.isChange)
      if startingThread { threads += 1 }
      return job
    }
    return nil
  }

  fileprivate mutating func removeReads(of sender: String) -> [Workers.Job] {
    let reads = waiting[sender]?.removeReads() ?? []
    if waiting[sender]?.count == 0 {
      waiting[sender] = nil
      turns.removeAll { $0 == sender }
    }
    return reads
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
