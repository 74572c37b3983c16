import CofferConsole

/// The findings, for people and programs.
struct SweepReport {
  private let files: [SweptFile]
  /// The names of the items that were made, by file and line.
  private let moved: [(file: SweptFile, finding: SweepFinding, item: String)]

  init(_ files: [SweptFile], moved: [(file: SweptFile, finding: SweepFinding, item: String)] = []) {
    self.files = files
    self.moved = moved
  }

  func write(asJSON isJSON: Bool) throws {
    for problem in files.compactMap(\.problem) { Descriptor.error.note("note: \(problem.message.escapingControls())\n") }
    guard !isJSON else {
      func members(_ file: SweptFile, _ finding: SweepFinding) -> [(String, JSON)] {
        [
          ("file", .text(file.place.path)), ("line", .integer(Int64(finding.line))), ("rule", .text(finding.rule)),
          ("name", .text(finding.name)), ("leaves", .text(finding.leaves)),
        ]
      }
      let found = files.flatMap { file in
        file.findings.map { JSON.object(members(file, $0) + [("movable", .boolean($0.isMovable))]) }
      }
      let gone = moved.map { JSON.object(members($0.file, $0.finding) + [("item", .text($0.item))]) }
      let problems = files.compactMap(\.problem).map { JSON.text($0.message) }
      let report: [(String, JSON)] = [("moved", .array(gone)), ("findings", .array(found)), ("problems", .array(problems))]
      return try Descriptor.output.write(JSON.object(report).description + "\n")
    }
    let gone = moved.map {
      ["\($0.file.place.path):\($0.finding.line)", $0.finding.rule, $0.finding.name, "moved to \($0.item)"]
    }
    let rows = files.flatMap { file in
      file.findings.map {
        ["\(file.place.path):\($0.line)", $0.rule, $0.name, ($0.isMovable ? "can be moved; leaves " : "stays: ") + $0.leaves]
      }
    }
    try Descriptor.output.write(
      Table(heading: ["PLACE", "RULE", "NAME", "RESULT"], rows: gone + rows).text(style: .current()))
  }

  /// - Throws: I/O, if a file could not be read: nothing is known of it.
  static func check(_ files: [SweptFile]) throws {
    guard let problem = files.compactMap(\.problem).first else { return }
    throw Failure(problem.status == .ok ? .other : problem.status, problem.message, hint: problem.hint)
  }
}
