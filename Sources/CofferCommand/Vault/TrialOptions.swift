import ArgumentParser

/// The options of commands that show their plan before they change the vault.
struct TrialOptions: ParsableArguments {
  @Flag(help: "Stop before the question, and change nothing.")
  var dryRun = false

  @Flag(help: "Do not ask.")
  var force = false

  @Flag(help: "As JSON.")
  var json = false

  /// - Throws: `locked` if there is no person to ask; `cancelled`.
  func agree(_ question: String, about subject: String, _ vault: VaultOptions) throws {
    guard !force else { return }
    try Question.agree(question, about: subject, vault, hint: "--force; to try it: --dry-run")
  }
}
