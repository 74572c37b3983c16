import CofferConsole
import ForeignFormats
import ProgramSecrets
import SecretMemory
import VaultCore

/// docker asks `docker-credential-coffer` about the registries that a sweep has moved.
enum DockerFindings {
  static let name = "coffer"
  static let program = "docker-credential-coffer"

  static func findings(of text: SourceText) throws -> [SweepFinding] {
    let document = try JSONText(of: text)
    return try DockerFormat.items(of: text).items.map { one in
      SweepFinding(one, as: .dockerHelper, unless: try obstacle(for: one, in: document, text))
    }
  }

  /// Why docker would not get the credential from the vault.
  private static func obstacle(
    for found: ForeignItem, in document: JSONText, _ text: SourceText
  ) throws -> String? {
    let (server, user) = ItemName.parts(of: found.item)
    if !CalledName.isInstalled(program) { return "\(program) is not in PATH" }
    if user.isEmpty { return "has no user" }
    if !found.companions.isEmpty { return "docker asks a helper for one token alone" }
    if DockerFormat.askedName(of: server) == nil { return "docker asks for the host alone: docker login again" }
    guard let helper = try DockerFormat.helper(of: server, in: document, text) else {
      // A second member of this name would not be read, or not by each docker.
      return try document.setting("credHelpers")?.isObject == false ? "credHelpers holds no object; delete it" : nil
    }
    guard helper != name else { return nil }
    if helper.isEmpty { return "credHelpers says that docker asks none" }
    return "docker asks another helper, \(helper), and does not read it: docker logout"
  }
}
