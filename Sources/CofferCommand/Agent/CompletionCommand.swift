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
    let text = lines.map { isRefused($0) ? String($0).replacing(" 'version' ", with: " ") : String($0) }.joined(separator: "\n")
    switch shell {
    case .bash:
      try Descriptor.output.write(
        OtherNames.completed(BashCompletion.completed(SyncWords.completed(text, index: "COMP_CWORD"))) + "\n")
    case .zsh: try Descriptor.output.write(OtherNames.completed(SyncWords.completed(text, index: "current_word_index")) + "\n")
    case .fish: try Descriptor.output.write(OtherNames.completedForFish(text) + "\n")
    }
  }
}

/// The other names of verbs, which the scripts lack: `secret rename` gets the completion of `secret move`.
private enum OtherNames {
  static func completed(_ script: String) -> String {
    var lines = script.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    add(of: Coffer.self, "_coffer", &lines)
    return lines.joined(separator: "\n")
  }

  /// A switch with a case for each verb is nested in the case of its noun. The name is replaced before it is compared.
  static func completedForFish(_ script: String) -> String {
    let others = others(of: Coffer.self, ["coffer"])
    var path: [(indent: Int, name: String)] = []
    return script.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let indent = line.prefix { $0 == " " }
      let words = line.dropFirst(indent.count).split(separator: " ")
      guard words.count == 2, words[0] == "case" else { return String(line) }
      path = path.prefix { $0.indent < indent.count } + [(indent.count, words[1].filter { $0 != "'" })]
      guard let others = others[path.map(\.name)] else { return String(line) }
      return "\(line)\(others.map { " '\($0)'" }.joined())\n\(indent)    set unparsed_tokens[1] \(words[1])"
    }
    .joined(separator: "\n")
  }

  /// By the path of each verb that has other names.
  private static func others(of command: any ParsableCommand.Type, _ path: [String]) -> [[String]: [String]] {
    var result: [[String]: [String]] = [:]
    for verb in command.configuration.subcommands {
      guard let name = verb.configuration.commandName else { continue }
      if !verb.configuration.aliases.isEmpty { result[path + [name]] = verb.configuration.aliases }
      result.merge(others(of: verb, path + [name])) { first, _ in first }
    }
    return result
  }

  /// - Parameter function: The function of the command in the script. It calls that of a verb whose name stands in a pattern.
  private static func add(of command: any ParsableCommand.Type, _ function: String, _ lines: inout [String]) {
    guard let start = lines.firstIndex(of: "\(function)() {") else { return }
    for verb in command.configuration.subcommands {
      guard let name = verb.configuration.commandName else { continue }
      add(of: verb, "\(function)_\(name)", &lines)
      for other in verb.configuration.aliases {
        let isPattern = { (line: String) in
          line.hasSuffix(")") && line.dropLast().drop { $0 == " " }.split(separator: "|").contains { $0 == name }
        }
        guard let index = lines[start...].firstIndex(where: isPattern) else { continue }
        lines[index] = "\(lines[index].dropLast())|\(other))"
        lines.insert(contentsOf: ["\(function)_\(other)() {", "    \(function)_\(name) \"$@\"", "}", ""], at: start)
      }
    }
  }
}

/// The words behind `coffer sync`. Options are among them, which the scripts would not ask for.
private enum SyncWords {
  /// - Parameter index: The variable with the number of the word that is completed.
  static func completed(_ script: String, index: String) -> String {
    let custom = #"__coffer_custom_complete ---completion sync -- positional@0 "${\#(index)}""#
    let call = custom + #" "$(__coffer_cursor_index_in_current_word)""#
    let body = index == "COMP_CWORD" ? #"__coffer_add_completions -W "$(\#(call))""# : call
    return script.replacing("\n_coffer_sync() {\n", with: "\n_coffer_sync() {\n    \(body)\n    return\n")
  }
}

/// Changes of the script for bash.
private enum BashCompletion {
  /// Behind the last argument all options are offered, and as each begins with one, a second Tab would type a hyphen.
  private static let offer = (
    #"[[ ("${cur}" = -* && "${positional_number}" -ge 0) || "${positional_number}" -eq -1 ]]"#,
    #"[[ "${cur}" = -* && "${positional_number}" -ge -1 ]]"#
  )

  /// bash breaks a word at each = and :, and replaces only the part behind the last one.
  private static let words = (
    #"""
        local -r cur="${2}"
        local -r prev="${3}"

    """#,
    #"""
        local rest="${COMP_LINE}" word space joined=''
        local -a words=()
        local -i index last=0
        for index in "${!COMP_WORDS[@]}"; do
            word="${COMP_WORDS[index]}"
            space="${rest%%[![:space:]]*}"
            rest="${rest#"${space}"}"
            rest="${rest#"${word}"}"
            if [[ -z "${space}" && "${index}" -gt 0 ]]; then
                [[ "${index}" -eq "${COMP_CWORD}" ]] && joined="${words[-1]}"
                words[-1]+="${word}"
            else
                words+=("${word}")
            fi
            if [[ "${index}" -eq "${COMP_CWORD}" ]]; then
                last="$((${#words[@]} - 1))"
                [[ -n "${joined}" && "${word}" =~ ^[=:]+$ ]] && joined="${words[-1]}"
            fi
        done
        local cur="${2}"
        [[ -n "${joined}" ]] && cur="${words[last]}"
        local -r cur prev="${words[last - 1]}"
        local -a COMP_WORDS=("${words[@]}")
        local -i COMP_CWORD="${last}"

    """#
  )
  /// A list of file names has the part behind the last / alone, and a name that a directory has too gets one more.
  private static let list = (
    #"""
    __coffer_add_completions() {

    """#,
    #"""
    __coffer_add_completions() {
        [[ "${1}" = -W ]] && compopt +o filenames 2>/dev/null

    """#
  )
  private static let end = (
    #"""
        esac
    }

    _coffer_vault() {
    """#,
    #"""
        esac
        [[ -n "${joined}" ]] && COMPREPLY=("${COMPREPLY[@]#"${joined}"}")
        return 0
    }

    _coffer_vault() {
    """#
  )

  static func completed(_ script: String) -> String {
    [offer, words, list, end].reduce(script) { $0.replacing($1.0, with: $1.1) }
  }
}
