import Coffer
import CofferConsole

/// The effect on each item of an import from another program that serves the Secret Service, or of an export to it, decided before anything
/// is written. Programs find an item by its attributes, and get the newest of several: so these are its name here.
struct TransferPlan<Source, Target> {
  struct Step {
    let source: Source
    let collection: String
    let label: String
    var outcome: ImportPlan.Outcome
    /// The item whose secret it would replace. nil in a conflict: an older one that would be found instead of a newer one.
    var present: Target?
  }

  struct Lost {
    let collection: String
    let label: String
    /// For programs.
    let reason: String
    let words: String
  }

  private(set) var steps: [Step] = []
  var lost: [Lost] = []
  var conflicts: [Step] { steps.filter { $0.outcome == .conflict } }

  /// Items of one collection with the same attributes.
  /// - Parameters:
  ///   - sources: The oldest first.
  ///   - present: Those that are there, the newest first.
  mutating func add(
    _ sources: [(source: Source, label: String)], collection: String, present: [Target], isSame: (Source, Target) throws -> Bool
  ) rethrows {
    var left = present
    var same: Set<Int> = []
    for (index, source) in sources.enumerated() {
      guard let match = try left.firstIndex(where: { try isSame(source.source, $0) }) else { continue }
      left.remove(at: match)
      same.insert(index)
    }
    for (index, source) in sources.enumerated() {
      var step = Step(source: source.source, collection: collection, label: source.label, outcome: .added, present: nil)
      if same.contains(index) {
        step.outcome = .identical
      } else if !left.isEmpty {
        (step.outcome, step.present) = (.conflict, left.removeFirst())
      } else if same.contains(where: { $0 > index }) {
        step.outcome = .conflict
      }
      steps.append(step)
    }
  }

  mutating func settle(_ outcome: ImportPlan.Outcome) {
    for index in steps.indices where steps[index].outcome == .conflict {
      steps[index].outcome = steps[index].present == nil ? .kept : outcome
    }
  }

  /// Each item by itself, in the order of the plan. One that is refused alone is a lost one.
  /// - Parameter write: Writes one, and returns what was lost of it.
  /// - Throws: Errors that concern the others too. Those before it have been written.
  mutating func carryOut(
    with provider: OtherProvider, _ work: LongWork, _ write: (Step) throws -> [(reason: String, words: String)]
  ) throws {
    let writes = steps.indices.filter { steps[$0].outcome == .added || steps[$0].outcome == .replaced }
    var refused: Set<Int> = []
    for (done, index) in writes.enumerated() {
      let step = steps[index]
      do {
        try work.step(UInt64(done), of: UInt64(writes.count))
        lost += try write(step).map { Lost(collection: step.collection, label: step.label, reason: $0.reason, words: $0.words) }
      } catch let refusal as OtherProvider.Refusal where refusal.isOfOneItem {
        refused.insert(index)
        lost.append(Lost(collection: step.collection, label: step.label, reason: refusal.reason, words: refusal.words))
      } catch let refusal as OtherProvider.Refusal {
        throw ImportPlan.failure(provider.failure(refusal), at: step.label, done: done - refused.count, of: writes.count)
      } catch {
        throw ImportPlan.failure(error, at: "\(step.collection): \(step.label)", done: done - refused.count, of: writes.count)
      }
    }
    steps = steps.indices.filter { !refused.contains($0) }.map { steps[$0] }
  }

  // MARK: Report

  /// Nothing is overwritten without being told.
  func conflict(_ place: String) -> Failure {
    Failure(
      .duplicate, "\(counted(conflicts.count, "item")) with another secret \(place); nothing has been changed",
      hint: "--replace takes the secret that comes, --keep the one that is there",
      details: conflicts.map { "\($0.collection): \($0.label)" })
  }

  func report(_ program: String, isTrial: Bool, asJSON isJSON: Bool) throws {
    guard !isJSON else {
      let items = steps.map { step in
        JSON.object([
          ("collection", .text(step.collection)), ("label", .text(step.label)), ("result", .text(step.outcome.rawValue)),
        ])
      }
      let parts = lost.map { part in
        JSON.object([("collection", .text(part.collection)), ("label", .text(part.label)), ("reason", .text(part.reason))])
      }
      let members: [(String, JSON)] = [
        ("program", .text(program)), ("trial", .boolean(isTrial)), ("items", .array(items)), ("lost", .array(parts)),
      ]
      return try Descriptor.output.write(JSON.object(members).description + "\n")
    }
    let rows = steps.map { [$0.outcome.rawValue, $0.label, $0.collection] }
    try Descriptor.output.write(Table(heading: ["RESULT", "LABEL", "COLLECTION"], rows: rows).text(style: .current()))
    for part in lost {
      let name = [part.collection, part.label].filter { !$0.isEmpty }.joined(separator: ": ")
      Descriptor.error.note("note: \(name.escapingControls()): \(part.words.escapingControls())\n")
    }
    if isTrial { Descriptor.error.note("note: a trial: nothing has been changed\n") }
  }
}

extension Array {
  /// The elements for which the first test holds; if it holds for none, those for which the second one does.
  func filter(_ first: (Element) -> Bool, orElse second: (Element) -> Bool) -> [Element] {
    let found = filter(first)
    return found.isEmpty ? filter(second) : found
  }
}

extension ServedContent {
  private static let ofEveryEntry: Set = ["Title", "UserName", "URL", "Notes", "FDO_SECRETS_CONTENT_TYPE"]
  private static let ofTheProgram: Set = ["Uuid", "Path"]

  /// Whether these are the attributes that the other program has made of the ones of an item. KeePassXC has the fields of an entry among
  /// them, and decides about two itself.
  func isKept(of name: [String: String]) -> Bool {
    guard Self.ofTheProgram.allSatisfy({ self.name[$0] != nil }) else { return self.name == name }
    func others(_ attributes: [String: String]) -> [String: String] {
      attributes.filter { !Self.ofTheProgram.contains($0.key) }
    }
    return others(self.name.filter { name[$0.key] != nil || !Self.ofEveryEntry.contains($0.key) }) == others(name)
  }
}
