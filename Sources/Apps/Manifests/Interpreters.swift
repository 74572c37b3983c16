/// Programs that run what they are given. What such a program is granted would be granted to every script.
package enum Interpreters {
  private static let names: Set<String> = [
    "sh", "bash", "dash", "zsh", "fish", "ksh", "busybox", "python", "perl", "ruby", "node", "nodejs", "deno", "bun", "lua",
    "php",
    "java", "tclsh", "guile", "awk", "gawk", "mawk", "sed", "env", "make", "gdb", "strace", "ld-linux-x86-64.so", "qemu",
    "Rscript", "R", "julia", "swift", "swift-frontend", "mono", "dotnet", "expect", "osascript", "wish", "erl", "beam.smp",
    "elixir",
  ]

  /// By the last name of the path: `python3.11` is a `python`.
  package static func contain(_ path: String) -> Bool {
    guard let name = path.split(separator: "/").last else { return false }
    if names.contains(String(name)) { return true }
    let base = name.prefix { !$0.isNumber && $0 != "." && $0 != "-" }
    return !base.isEmpty && names.contains(String(base))
  }
}
