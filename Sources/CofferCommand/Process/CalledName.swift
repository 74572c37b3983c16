import CofferConsole
import CofferFiles
import Glibc

/// The names under which git, docker and cargo start a helper. Each is a link to `coffer`.
enum CalledName {
  private static let helpers = [
    "git-credential-coffer": "git", "docker-credential-coffer": "docker", "cargo-credential-coffer": "cargo",
  ]

  /// Whether the programs that ask a helper find it.
  static func isInstalled(_ name: String) -> Bool {
    (Environment["PATH"] ?? "").split(separator: ":").contains { unsafe access("\($0)/\(name)", X_OK) == 0 }
  }

  /// The words of the command line after the program's name, as if it was called `coffer`.
  static func words(of command: [String]) -> [String] {
    let words = Array(command.dropFirst())
    guard let name = command.first?.split(separator: "/").last, let helper = helpers[String(name)] else { return words }
    return ["credential", helper] + words
  }
}
