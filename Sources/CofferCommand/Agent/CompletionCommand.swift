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
    try Descriptor.output.write(Coffer.completionScript(for: kind) + "\n")
  }
}
