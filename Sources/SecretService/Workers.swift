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

  fileprivate struct Running {
    var count = 0
    var isChange = false
  }

  fileprivate struct State {
    var waiting: [Job] = []
    var running: [String: Running] = [:]
    var threads = 0
    var counts: [String: Int] = [:]
  }

  private let state = Mutex(State())

  /// - Throws: `BusError`: `limitsExceeded`.
  func submit(_ job: Job) throws(BusError) {
    let isFull = state.withLock { state in
      guard state.counts[job.sender, default: 0] < Self.maximumCalls else { return true }
      state.counts[job.sender, default: 0] += 1
      state.waiting.append(job)
      return false
    }
    guard !isFull else { throw .limitsExceeded("more than \(Self.maximumCalls) calls at once") }
    start()
  }

  /// Goes on with a call that waits.
  func resume(_ job: Job) {
    state.withLock { $0.waiting.append(job) }
    start()
  }

  /// A call that waits was answered.
  func release(_ sender: String) { state.withLock { $0.release(sender) } }

  private func start() {
    while let job = state.withLock({ $0.take(startingThread: true) }) {
      guard DetachedThread.start("coffer-secrets", { self.work(job) }) else {
        // On this thread: late, but done.
        work(job)
        continue
      }
    }
  }

  private func work(_ first: Job) {
    var job = first
    while true {
      let isAnswered = job.run()
      let next = state.withLock { state -> Job? in
        state.finish(job)
        if isAnswered { state.release(job.sender) }
        guard let next = state.take(startingThread: false) else {
          state.threads -= 1
          return nil
        }
        return next
      }
      guard let next else { break }
      job = next
      start()
    }
    start()
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

  fileprivate mutating func finish(_ job: Workers.Job) {
    if let now = running[job.sender] {
      running[job.sender] = now.count > 1 ? Workers.Running(count: now.count - 1, isChange: false) : nil
    }
  }

  fileprivate mutating func release(_ sender: String) {
    if let count = counts[sender] { counts[sender] = count > 1 ? count - 1 : nil }
  }
}
