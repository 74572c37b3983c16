import CofferConsole
internal import CofferPreferences
import Synchronization

/// Events of the store, printed to standard error, or collected by a caller that expects them.
enum DefaultsNotes {
  static func print() {
    PreferenceEvent.report { event in
      guard let finding = DoctorFinding(event) else { return }
      Descriptor.error.note("defaults: note: \(finding.subject.escapingControls()): \(finding.detail.escapingControls())\n")
    }
  }

  /// Runs `body`, and returns what the store has said meanwhile.
  static func collect(_ body: () throws -> Void) rethrows -> [DoctorFinding] {
    let events = Collected()
    PreferenceEvent.report { events.add($0) }
    defer { print() }
    try body()
    return events.all.compactMap { DoctorFinding($0) }
  }

  private final class Collected: Sendable {
    private let events = Mutex<[PreferenceEvent]>([])

    func add(_ event: PreferenceEvent) { events.withLock { $0.append(event) } }
    var all: [PreferenceEvent] { events.withLock { $0 } }
  }
}

extension DoctorFinding {
  /// Nil for what the command says by itself.
  init?(_ event: PreferenceEvent) {
    switch event {
    case .quarantined(let domain, _, let path):
      self.init(
        kind: "quarantined", subject: domain, detail: "a damaged file was put aside as \(path)",
        hint: "look whether something in it is missed, then remove it")
    case .damaged(let domain, let path, let byteCount):
      self.init(
        kind: "damaged", subject: domain, detail: "\(counted(byteCount, "byte")) of \(path) are damaged",
        hint: "its values were taken from the property list, as far as that has them; the next write makes a new journal")
    case .notExported(let domain, let error):
      let failure = DefaultsFailure(error, about: domain)
      self.init(
        kind: "not-exported", subject: domain,
        detail: "the property list cannot be kept up to date: \(failure.reason)",
        hint: failure.hint ?? "the journal has all values")
    case .managedIgnored(let path, let error):
      let failure = DefaultsFailure(error, about: path)
      self.init(
        kind: "managed-ignored", subject: path, detail: "managed settings are not used: \(failure.reason)",
        hint: "the file and its directories must belong to root, and no other user may write to them")
    case .firstValuesIgnored(let domain, let error):
      let failure = DefaultsFailure(error, about: domain)
      self.init(
        kind: "foundation-ignored", subject: domain,
        detail: "the values that Foundation has stored are not used: \(failure.reason)",
        hint: "coffer defaults import reads a property list that you trust")
    // The first is looked for by `doctor`, the second is thrown.
    case .large, .unsaved: return nil
    }
  }
}
