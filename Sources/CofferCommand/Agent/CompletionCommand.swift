import ArgumentParser
import CofferConsole

struct CompletionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "completion", abstract: "Print the completion script of a shell.",
    discussion: """
      bash: coffer completion bash >~/.local/share/bash-completion/completions/coffer
      zsh: coffer completion zsh >DIRECTORY/_coffer, a directory of $fpath
      fish: coffer completion fish >~/.config/fish/completions/coffer.fish
      """)

  enum Shell: String, ExpressibleByArgument, CaseIterable {
    case bash, zsh, fish
  }

  @Argument(help: "The shell.")
  var shell: Shell

  func run() throws {
    let kind: CompletionShell =
      switch shell {
      case .bash: .bash
      case .zsh: .zsh
      case .fish: .fish
      }
    let script = Coffer.completionScript(for: kind)
    // fish refuses a list in which an option has the name of a flag, and `secret get` has an option --version.
    let isRefused = { (line: Substring) in shell == .fish && line.contains("'version='") }
    let lines = script.split(separator: "\n", omittingEmptySubsequences: false)
    try Descriptor.output.write(
      lines.map { isRefused($0) ? String($0).replacing(" 'version' ", with: " ") : String($0) }.joined(separator: "\n") + "\n")
  }
}
