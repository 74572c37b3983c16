import CofferConsole
import VaultCore

/// The items that an import has copied, found here, or left.
struct ImportReport {
  let file: String
  let plan: ImportPlan
  let leftOut: LeftOut
  let isTrial: Bool

  /// Nothing is overwritten without being told.
  var conflict: Failure {
    let conflicts = plan.conflicts
    return Failure(
      .duplicate, "\(file): \(counted(conflicts.count, "item")) with another value here; nothing has been changed",
      hint: "--replace takes the value of the file, --keep the one here", details: conflicts.map(\.entry.nameWithGroup))
  }

  func write(asJSON isJSON: Bool) throws {
    guard !isJSON else {
      let items = plan.steps.map { step in
        JSON.object([
          ("name", .text(step.entry.name)), ("group", .text(step.entry.reference.group.name)),
          ("result", .text(step.outcome.rawValue)),
        ])
      }
      let members: [(String, JSON)] =
        [("file", .text(file)), ("trial", .boolean(isTrial)), ("items", .array(items))] + leftOut.members
      return try Descriptor.output.write(JSON.object(members).description + "\n")
    }
    let rows = plan.steps.map { [$0.outcome.rawValue, $0.entry.name, $0.entry.reference.group.name] }
    try Descriptor.output.write(Table(heading: ["RESULT", "NAME", "GROUP"], rows: rows).text(style: .current()))
    leftOut.note()
    if isTrial { Descriptor.error.note("note: a trial: nothing has been changed\n") }
  }
}
