import Glibc
internal import Preferences
internal import PropertyLists
import Synchronization

extension DefaultsSession {
  /// Prints each change as it happens, until the reader of standard output goes away or the process is ended. Standard error says from
  /// when on nothing is missed.
  /// - Parameters:
  ///   - domain: nil for all of the user, also those that are made meanwhile.
  ///   - key: nil for all.
  func watch(_ domain: DefaultsInvocation.Domain?, _ key: String?) throws {
    ChangeWatch.start()
    let printer = ChangePrinter(isJSON: isJSON, key: key)
    // A domain that nobody holds is not watched.
    var watched: [String: (domain: StoredDomain, observation: PreferenceObservation)] = [:]
    func observe(_ domain: any EditableDomain, isNew: Bool) throws {
      guard let stored = domain as? StoredDomain else {
        throw DefaultsFailure.failed(
          "\(domain.title): no program keeps its settings in this file, so nothing tells of a change",
          hint: "watch a domain by its name")
      }
      guard watched[domain.name] == nil else { return }
      watched[domain.name] = (stored, printer.observe(stored, isNew: isNew))
    }
    // A mistake in the name is said at once.
    if let domain { _ = try store.domain(domain) }
    var isFirst = true
    repeat {
      let found = try domain.map { try store.isWatchable($0) ? [$0] : [] } ?? store.names()
      // Domains that are made while we watch begin with nothing.
      for domain in found { try observe(try store.domain(domain), isNew: !isFirst) }
      if isFirst { Descriptor.error.note("defaults: watching\n") }
      isFirst = false
    } while !printer.waitForEnd(milliseconds: 200)
  }
}

/// Turns changes into lines of standard output. Called by the thread that made the change, or the one that noticed it.
private final class ChangePrinter: Sendable {
  private let isJSON: Bool
  private let key: String?
  /// What was last said of each key, by domain: a change is told once, whether it was found or notified.
  private let known = Mutex<[String: PropertyListDictionary]>([:])
  private let hasEnded = Atomic(false)

  init(isJSON: Bool, key: String?) {
    self.isJSON = isJSON
    self.key = key
  }

  func observe(_ stored: StoredDomain, isNew: Bool) -> PreferenceObservation {
    let title = stored.title
    if !isNew {
      let values = stored.domain.values()
      known.withLock { $0[title] = values }
    }
    let observation = stored.domain.observe { [weak self] change in
      self?.tell(title, change.keys.map { ($0.name, $0.new) })
    }
    // What came in between.
    let values = stored.domain.values()
    let gone = known.withLock { $0[title]?.sorted.filter { values[$0.key] == nil } ?? [] }
    tell(title, values.sorted.map { ($0.key, $0.value) } + gone.map { ($0.key, nil) })
    return observation
  }

  private func tell(_ domain: String, _ changes: [(key: String, new: PropertyListValue?)]) {
    known.withLock { known in
      var values = known[domain] ?? PropertyListDictionary()
      for change in changes where values[change.key] != change.new {
        let old = values[change.key]
        values[change.key] = change.new
        guard key.map({ $0.utf8.elementsEqual(change.key.utf8) }) ?? true else { continue }
        say(domain, change.key, old, change.new)
      }
      known[domain] = values
    }
  }

  private func say(_ domain: String, _ key: String, _ old: PropertyListValue?, _ new: PropertyListValue?) {
    let (before, after) = (old.map { JSON($0) }, new.map { JSON($0) })
    let line: String
    if isJSON {
      let members: [(String, JSON)] = [("domain", .text(domain)), ("key", .text(key))]
      line = JSON.object(members + (before.map { [("old", $0)] } ?? []) + (after.map { [("new", $0)] } ?? [])).description
    } else {
      let values = [before, after].map { $0?.description ?? "(none)" }.joined(separator: " -> ")
      line = "\(domain.escapingControls()) \(key.escapingControls()): \(values)"
    }
    do {
      try Descriptor.output.write(line + "\n")
    } catch {
      hasEnded.store(true, ordering: .releasing)
    }
  }

  /// Whether nobody reads any more. Returns after so many milliseconds at most.
  func waitForEnd(milliseconds: Int32) -> Bool {
    var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
    let count = unsafe poll(&output, 1, milliseconds)
    return count > 0 && output.revents != 0 || hasEnded.load(ordering: .acquiring)
  }
}
