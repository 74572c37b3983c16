import CofferConsole

/// The names under which git and docker start a helper. Each is a link to `coffer`.
enum CalledName {
  private static let helpers = ["git-credential-coffer": "git", "docker-credential-coffer": "docker"]

  /// The words of the command line after the program's name, as if it was called `coffer`.
  static func words(of command: [String]) -> [String] {
    let words = Array(command.dropFirst())
    guard let name = command.first?.split(separator: "/").last, let helper = helpers[String(name)] else { return words }
    return ["credential", helper] + words
  }
}
