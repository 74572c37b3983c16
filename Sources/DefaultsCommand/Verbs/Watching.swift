import CofferConsole
internal import CofferPreferences
internal import CofferPropertyLists
import Glibc
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
    // A domain is watched as long as this holds it.
    var watched: [String: (domain: FileDomain, observation: PreferenceObservation)] = [:]
    func observe(_ domain: any EditableDomain, isNew: Bool) throws {
      guard let stored = domain as? StoredDomain else {
        throw DefaultsFailure.failed(
          "\(domain.title): no program keeps its settings in this file, so nothing tells of a change",
          hint: "watch a domain by its name")
      }
      guard watched[domain.name] == nil else { return }
      let file = stored.watched(isNew: isNew)
      let title = stored.title
      watched[domain.name] = (file, file.observe { printer.tell(title, $0.keys) })
    }
    // Observed from the start, also if it has no files yet: its first change is told as any other.
    if let domain { try observe(try store.domain(domain), isNew: false) }
    var isFirst = true
    repeat {
      // Domains that are made while we watch begin with nothing.
      if domain == nil { for found in try store.names() { try observe(try store.domain(found), isNew: !isFirst) } }
      if isFirst { Descriptor.error.note("defaults: watching\n") }
      isFirst = false
    } while !printer.waitForEnd(milliseconds: 200)
  }
}

/// Turns changes into lines of standard output. Called by the one thread that notices them.
private final class ChangePrinter: Sendable {
  private let isJSON: Bool
  private let key: String?
  private let hasEnded = Atomic(false)

  init(isJSON: Bool, key: String?) {
    self.isJSON = isJSON
    self.key = key
  }

  func tell(_ domain: String, _ changes: [PreferenceChange.Key]) {
    for change in changes where key.map({ $0.utf8.elementsEqual(change.name.utf8) }) ?? true {
      say(domain, change.name, change.old, change.new)
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

  /// Whether the output has no reader any more. Returns after so many milliseconds at most.
  func waitForEnd(milliseconds: Int32) -> Bool {
    var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
    let count = unsafe poll(&output, 1, milliseconds)
    return count > 0 && output.revents != 0 || hasEnded.load(ordering: .acquiring)
  }
}
