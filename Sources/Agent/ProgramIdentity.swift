import ItemService

/// What a program is, as far as can be told from outside of it. The strongest that fits.
package enum ProgramIdentity: Hashable, Sendable {
  /// A program of an installed app: its content is one that the app's team has signed.
  case app(String)
  /// Runs in the sandbox of this application of Flatpak.
  case flatpak(String)
  /// `coffer` itself.
  case command
  /// Belongs to this service of the system.
  case unit(String)
  /// Belongs to root, as do the directories above it: nobody else can have put it there.
  case system(path: String)
  /// Runs something that somebody else has written: a script says nothing about itself.
  case interpreter(path: String)
  /// Everything else, and why.
  case unknown(String)
}

extension ProgramIdentity {
  /// Under which it can be granted something, where it is no app and not the command.
  package var grantedName: String? {
    switch self {
    case .unit(let name): GrantedProgram.unit(name).name
    case .flatpak(let identifier): GrantedProgram.flatpak(identifier).name
    default: nil
    }
  }

  /// Programs that run what they are given. What such a program is granted would be granted to every script.
  static let interpreters: Set<String> = [
    "sh", "bash", "dash", "zsh", "fish", "ksh", "busybox", "python", "perl", "ruby", "node", "nodejs", "deno", "bun", "lua",
    "php",
    "java", "tclsh", "guile", "awk", "gawk", "mawk", "sed", "env", "make", "gdb", "strace", "ld-linux-x86-64.so", "qemu",
    "Rscript", "R", "julia", "swift", "swift-frontend", "mono", "dotnet", "expect", "osascript", "wish", "erl", "beam.smp",
    "elixir",
  ]

  /// `python3.11` is a `python`.
  static func isInterpreter(_ path: String) -> Bool {
    guard let name = path.split(separator: "/").last else { return false }
    if interpreters.contains(String(name)) { return true }
    let base = name.prefix { !$0.isNumber && $0 != "." && $0 != "-" }
    return !base.isEmpty && interpreters.contains(String(base))
  }
}
