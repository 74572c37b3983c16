import CofferConsole
import ForeignFormats
import VaultCore

/// The items that an import has made or found here, and each part of the file that became none.
struct ForeignReport {
  let file: String
  let plan: ForeignPlan
  let lost: [LostPart]
  let isTrial: Bool

  func write(asJSON isJSON: Bool) throws {
    guard !isJSON else {
      let items = plan.steps.map { step in
        JSON.object([
          ("line", .integer(Int64(step.line))), ("name", .text(step.item.name(in: step.group ?? .standard))),
          ("group", .text((step.group ?? .standard).name)), ("result", .text(step.outcome.rawValue)),
        ])
      }
      let parts = lost.map { part in
        JSON.object([
          ("line", .integer(Int64(part.line))), ("what", .text(part.what)), ("reason", .text(part.reason.rawValue)),
        ])
      }
      let members: [(String, JSON)] = [
        ("file", .text(file)), ("trial", .boolean(isTrial)), ("items", .array(items)), ("lost", .array(parts)),
      ]
      return try Descriptor.output.write(JSON.object(members).description + "\n")
    }
    let rows = plan.steps.map { step in
      let group = step.group ?? .standard
      return [step.outcome.rawValue, step.item.name(in: group), group.name]
    }
    try Descriptor.output.write(Table(heading: ["RESULT", "NAME", "GROUP"], rows: rows).text(style: .current()))
    for part in lost {
      Descriptor.error.note("note: \(file):\(part.line): \(part.what): \(part.reason.words)\n".escapingControlsInLines())
    }
    if plan.steps.isEmpty, lost.isEmpty { Descriptor.error.note("note: \(file.escapingControls()): has nothing to import\n") }
    if isTrial { Descriptor.error.note("note: a trial: nothing has been changed\n") }
  }
}

extension LostPart.Reason {
  var words: String {
    switch self {
    case .setting: "is a setting, not a credential"
    case .elsewhere: "the secret is elsewhere: the file names a variable, a reference or a program"
    case .noSecret: "has no secret"
    case .anyHost: "is for any host, and no item is"
    case .macro: "is a macro of ftp"
    case .tooLarge: "is larger than an item can hold"
    case .filesTooLarge: "the files before it have 64 MiB together, and no import takes more"
    case .otherKind: "stands twice; its program takes the other one"
    case .continued: "its value goes on on the next line"
    case .otherFile: "is not a file of this format"
    case .notText: "is not UTF-8: the whole of it became the secret"
    case .fileMissing: "the file is not there"
    case .removed: "lies in the recycle bin"
    case .secretName: "its name looks like a secret, and names are listed; --not-a-secret keeps it"
    case .nameNotAllowed: "its name has a control character, or more than 1024 bytes"
    }
  }
}
