/// Programs that execute scripts. A grant to such a program would be a grant to every script.
package enum Interpreters {
  private static let names: Set<String> = [
    "sh", "bash", "dash", "zsh", "fish", "ksh", "busybox", "python", "perl", "ruby", "node", "nodejs", "deno", "bun", "lua",
    "php",
    "java", "tclsh", "guile", "awk", "gawk", "mawk", "sed", "env", "make", "gdb", "strace", "ld-linux-x86-64.so", "qemu",
    "Rscript", "R", "julia", "swift", "swift-frontend", "mono", "dotnet", "expect", "osascript", "wish", "erl", "beam.smp",
    "elixir",
  ]

  /// Checks the last component of the path: `python3.11` counts as `python`.
  package static func contain(_ path: String) -> Bool {
    guard let name = path.split(separator: "/").last else { return false }
    if names.contains(String(name)) { return true }
    let base = name.prefix { !$0.isNumber && $0 != "." && $0 != "-" }
    return !base.isEmpty && names.contains(String(base))
  }
}
