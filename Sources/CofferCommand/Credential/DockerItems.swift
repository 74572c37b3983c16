import Coffer
import CofferConsole
import CofferStorage
import CredentialProtocols
import ProgramSecrets
import SecretMemory
import VaultCore

/// The items of a vault that hold passwords for docker: generic passwords with the attribute `kind=docker`, whose service is the name of
/// the registry. A registry has one.
struct DockerItems {
  private static let kind = Item.userPrefix + "kind"
  private static let docker = "docker"

  private let keychain: Keychain
  private let group: AccessGroup?
  private let plainText: PlainTextOptions

  init(_ items: OpenItems, _ helper: HelperOptions) throws {
    keychain = items.keychain
    group = try items.groupOfHelper(helper.group)
    plainText = helper.plainText
  }

  /// The newest first.
  /// - Parameter service: Nil: of all registries.
  private func entries(service: String? = nil) throws -> [Entry] {
    var query = KeychainQuery(service: service, group: group)
    query.attributes[Self.kind] = .text(Self.docker)
    let none = Timestamp(secondsSince1970: 0)
    return try keychain.items(query).sorted { ($0.item.modified ?? none) > ($1.item.modified ?? none) }
  }

  /// The item of exactly this name, or else of another name for the registry.
  private func entry(_ server: DockerServer) throws -> Entry? {
    if let entry = try entries(service: server.name).first { return entry }
    return try entries().first { DockerServer($0.item["service"] ?? "").isSame(as: server) }
  }

  // MARK: Actions

  func get(_ server: borrowing DockerServer) throws {
    guard let entry = try entry(server) else { throw CredentialError(.serverUnknown) }
    try about(entry.nameWithGroup) {
      var secret = try keychain.secret(of: entry.reference, purpose: "docker: \(server.name)")
      // As echo(1) writes it: no password for docker has one.
      secret.dropLineEnd()
      let text = try SecretFilter.json.apply(to: secret)
      let members: [(String, JSON)] = [
        (DockerCredential.Member.server.rawValue, .text(server.name)),
        (DockerCredential.Member.user.rawValue, .text(entry.item["account"] ?? "")),
      ]
      let secretName = DockerCredential.Member.secret.rawValue
      try Descriptor.output.write(JSON.object(members).description.dropLast() + ",\"\(secretName)\":")
      try text.withBytes { try Descriptor.output.write($0) }
      try Descriptor.output.write("}\n")
    }
  }

  /// Nothing is written if the registry has this credential already.
  func store(_ credential: borrowing DockerCredential) throws {
    let (server, user) = (credential.server.name, credential.user)
    let name = try ItemName(service: server, account: user)
    try plainText.check(name, typed: nil, isInputAllowed: false)
    // A secret that no answer can hold is not stored.
    _ = try about(server) { try SecretFilter.json.apply(to: credential.secret) }
    guard let entry = try entries(service: server).first else { return try add(name, credential.secret) }
    try about(entry.nameWithGroup) {
      if (entry.item["account"] ?? "").utf8.elementsEqual(user.utf8) {
        let stored = try keychain.secret(of: entry.reference, purpose: "docker: compare")
        guard !stored.isEqual(to: credential.secret) else { return }
      }
      try keychain.update(entry.reference, secret: credential.secret) { $0["account"] = user }
    }
  }

  private func add(_ name: ItemName, _ secret: borrowing Secret) throws {
    var item = try name.item(.genericPassword)
    item[Self.kind] = Self.docker
    do {
      try keychain.add(item, secret: secret, group: group)
    } catch let error as KeychainError where error.code == .duplicate {
      throw Failure(
        .duplicate, "\(name): there is such an item already, and it is not of docker",
        hint: "coffer secret edit NAME --attr kind=docker gives it to docker")
    } catch {
      throw Failure(error, about: "\(name)")
    }
  }

  /// coffer secret restore brings it back. docker erases names that it has never stored.
  func erase(_ server: borrowing DockerServer) throws {
    guard let entry = try entry(server) else { return }
    if try !about(entry.nameWithGroup, { try keychain.remove(entry.reference) }) { ItemRemoval.noteLoss(of: entry.nameWithGroup) }
  }

  func list() throws {
    var users: [String: String] = [:]
    for entry in try entries() where users[entry.item["service"] ?? ""] == nil {
      users[entry.item["service"] ?? ""] = entry.item["account"] ?? ""
    }
    let members = users.sorted { $0.key < $1.key }.map { ($0.key, JSON.text($0.value)) }
    try Descriptor.output.write(JSON.object(members).description + "\n")
  }
}
