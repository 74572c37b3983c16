/// The lines by which a shell learns where the agent is: as ssh-agent(1) prints them.
struct ShellVariables {
  static let socket = "SSH_AUTH_SOCK"
  static let process = "SSH_AGENT_PID"

  private let isForCShell: Bool

  /// - Parameter shell: $SHELL.
  init(_ arguments: Arguments, shell: String?) {
    isForCShell = arguments.isForCShell ?? shell?.hasSuffix("csh") ?? false
  }

  func set(socket: String, process: Int32) -> String {
    line(Self.socket, socket) + line(Self.process, "\(process)") + "echo Agent pid \(process);\n"
  }

  func unset(process: Int32) -> String {
    let names = [Self.socket, Self.process]
    return names.map { isForCShell ? "unsetenv \($0);\n" : "unset \($0);\n" }.joined() + "echo Agent pid \(process) killed;\n"
  }

  private func line(_ name: String, _ value: String) -> String {
    let word = Self.quoted(value)
    return isForCShell ? "setenv \(name) \(word);\n" : "\(name)=\(word); export \(name);\n"
  }

  /// As it is, if no shell would take it apart.
  private static func quoted(_ value: String) -> String {
    let isPlain = value.utf8.allSatisfy { byte in
      "/._-+:,@%".utf8.contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    return isPlain ? value : "'\(value.replacing("'", with: #"'\''"#))'"
  }
}
