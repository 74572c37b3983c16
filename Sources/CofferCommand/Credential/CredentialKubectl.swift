import ArgumentParser
import Coffer
import CofferConsole
import CofferFiles
import CofferStorage
import ForeignFormats
import ProgramSecrets
import SecretMemory
import VaultCore

struct CredentialKubectl: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kubectl", abstract: "Give the token or the key of a user to kubectl.",
    discussion: "In a kubeconfig, below users: exec with the command coffer and the arguments credential, kubectl and NAME.")

  @Argument(help: "The user: the account of an item whose service is kubectl.")
  var name: String

  @Option(
    help: ArgumentHelp("The group, \"default\" if none is named.", valueName: "name"), completion: OfferedNames.groups)
  var group: String?

  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    try ItemName.check(name, "name")
    let version = try Self.version(Environment["KUBERNETES_EXEC_INFO"])
    let items = try access.open(vault)
    let group = try items.group(named: group)
    let item = Item(service: KubeFormat.service, account: name)
    let (entry, secret) = try about(item.name(in: group ?? .standard)) {
      guard let entry = try items.item(item, in: group) else {
        throw Failure(
          .notFound, "kubectl/\(name): no such item", hint: "coffer set kubectl/\(ShellWord.quoted(name)) keeps a token")
      }
      var secret = try items.keychain.secret(of: entry.reference, purpose: "kubectl: \(name)")
      // As echo(1) writes it: no token has one, and a key needs none.
      secret.dropLineEnd()
      return (entry, HeldSecret(try SecretFilter.json.apply(to: secret)))
    }
    let status = entry.item[KubeFormat.certificate].map { "\"clientCertificateData\":\(JSONForm.string($0)),\"clientKeyData\":" }
    try Descriptor.output.write(
      "{\"apiVersion\":\(JSONForm.string(version)),\"kind\":\"ExecCredential\",\"status\":{\(status ?? "\"token\":")")
    try secret.secret.withBytes { try Descriptor.output.write($0) }
    try Descriptor.output.write("}}\n")
    items.finish()
  }

  /// kubectl takes an answer in the version that it asks in. Without a question it is the present one.
  /// - Throws: usage.
  private static func version(_ question: String?) throws -> String {
    let versions = ["v1", "v1beta1"].map { "client.authentication.k8s.io/\($0)" }
    guard let question else { return versions[0] }
    let bytes = Array(question.utf8)
    guard let value = try? JSONText(parsing: bytes)["apiVersion"], value.isString else {
      throw Failure.usage("KUBERNETES_EXEC_INFO: is not a question of kubectl")
    }
    var text: [UInt8] = []
    value.forEachByte(of: bytes) { text.append($0) }
    guard let version = versions.first(where: { $0.utf8.elementsEqual(text) }) else {
      throw Failure.usage(
        "KUBERNETES_EXEC_INFO: asks in another version", hint: "apiVersion: \(versions[0]) in the kubeconfig")
    }
    return version
  }
}
