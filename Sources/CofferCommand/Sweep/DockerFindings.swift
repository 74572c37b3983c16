import CofferConsole
import ForeignFormats
import SecretMemory
import VaultCore

/// docker asks `docker-credential-coffer` about the registries that a sweep has moved.
enum DockerFindings {
  static let name = "coffer"
  static let program = "docker-credential-coffer"

  static func findings(of text: SourceText) throws -> [SweepFinding] {
    try DockerFormat.items(of: text).items.map { one in
      let (server, user) = ItemName.parts(of: one.item)
      let obstacle = try obstacle(for: one, server, user, in: text)
      return SweepFinding(
        line: one.line, rule: one.secret.leakRule(named: "password") ?? "credential",
        name: PlainTextOptions.looksLikeSecret(user) ? server : "\(server) \(user)",
        way: obstacle.map { .none($0) } ?? .dockerHelper, item: obstacle == nil ? one : nil)
    }
  }

  /// Why docker would not get the credential from the vault.
  private static func obstacle(
    for found: ForeignItem, _ server: String, _ user: String, in text: SourceText
  ) throws -> String? {
    if !CalledName.isInstalled(program) { return "\(program) is not in PATH" }
    if user.isEmpty { return "has no user" }
    if PlainTextOptions.looksLikeSecret(user) { return "the user looks like a secret, and names are listed" }
    if !found.companions.isEmpty { return "docker asks a helper for one token alone" }
    if DockerFormat.askedName(of: server) == nil { return "docker asks for the host alone: docker login again" }
    guard let helper = try DockerFormat.helper(of: server, in: text), helper != name else { return nil }
    return "docker asks another helper, \(helper), and does not read it: docker logout"
  }
}
