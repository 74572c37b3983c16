import ArgumentParser
import Coffer
import CofferConsole
import SecretMemory
import VaultCore

struct SweepCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sweep", abstract: "Find secrets in files of programs, and move them to the vault.",
    discussion: """
      Looks at the files in the home directory in which programs keep tokens, and at its .env files, or below other directories and at \
      single files. Prints file, line and rule, never a value, and ends with 3 if something was found. --move asks for each secret that can \
      be moved so that its program still works.
      """)

  @Argument(
    help: ArgumentHelp("Files, or directories in which to look; otherwise the home directory.", valueName: "path"),
    completion: .file())
  var paths: [String] = []

  @Flag(help: "Move secrets to the vault, and leave what makes their programs find them there.")
  var move = false

  @Flag(help: "With --move or --undo: do not ask.")
  var force = false

  @Flag(
    help: """
      Put files back as they were, and remove the items that --move made: the named files, and all below named directories; \
      without a path, all that a sweep has changed.
      """)
  var undo = false

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    guard !move || !undo else { throw Failure.usage("--undo: --move does the contrary") }
    guard move || undo || !force else { throw Failure.usage("--force: is for --move and --undo") }
    if undo { return try SweepUndo(paths: paths, isForced: force).run(access, vault, asJSON: json) }
    guard !move || force || vault.isAnybodyThere else { throw Question.unanswered("sweep", "--move --force") }
    let places = SweepPlaces(paths)
    var swept = try places.files().map { SweptFile($0) }.withoutSharedVariables()
    // A move removes those beside files.
    swept += places.leftovers().filter { !move || !$0.hasFile }.map { SweptFile(leftAt: $0.place, besideFile: $0.hasFile) }
    guard move else {
      try SweepReport(swept).write(asJSON: json)
      let findings = swept.flatMap(\.findings)
      guard findings.isEmpty else {
        throw Failure(
          .notFound, "\(counted(findings.count, "secret")) found",
          hint: findings.contains(where: \.isMovable) ? "coffer sweep --move" : nil)
      }
      return try SweepReport.check(swept)
    }
    try SweepMove(swept, isForced: force).run(access, vault, asJSON: json)
  }
}
