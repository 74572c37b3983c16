import Coffer
import CofferConsole
import CofferStorage
import ForeignFormats
import ProgramSecrets
import SecretMemory
import VaultCore

/// The items of a vault that hold tokens of cargo: `cargo/REGISTRY`, with the URL of the registry's index as an attribute. A project may give
/// the name of a registry to another index, which must not get the token.
struct CargoItems {
  private struct Registry {
    let index: String
    let name: String?

    /// The two indexes of crates.io. An item without an index is not given to another one that a project calls crates-io.
    private static let usual = ["sparse+https://index.crates.io/", "https://github.com/rust-lang/crates.io-index"]

    /// Whether an item that names no index is for it.
    var isKnownByName: Bool { name.map { $0 != CargoFormat.usualRegistry || Self.usual.contains(index) } ?? false }
  }

  private static let index = Item.userPrefix + "cargo.index-url"

  private let keychain: Keychain
  private let group: AccessGroup?
  private let plainText: PlainTextOptions

  init(_ items: OpenItems, _ helper: HelperOptions) throws {
    keychain = items.keychain
    group = try items.groupOfHelper(helper.group)
    plainText = helper.plainText
  }

  func answer(_ message: HeldSecret) throws {
    guard let document = try? JSONText(parsing: message), document.isObject else {
      throw Failure.usage("the message is not JSON")
    }
    guard let version = document["v"], version.isNumber, version.range.count == 1,
      message[version.range.lowerBound] == UInt8(ascii: "1")
    else { throw Failure.usage("the message is not of version 1") }
    guard let url = document["registry"]?["index-url"], let index = Self.text(url, message), index.contains("://") else {
      return try refuse("url-not-supported")
    }
    let registry = Registry(index: index, name: document["registry"]?["name"].flatMap { Self.text($0, message) })
    switch document["kind"].flatMap({ Self.text($0, message) }) {
    case "get": try get(registry)
    case "login": try login(registry, document["token"], message)
    case "logout": try logout(registry)
    default: try refuse("operation-not-supported")
    }
  }

  private static func text(_ value: JSONText, _ message: HeldSecret) -> String? {
    guard value.isString else { return nil }
    var bytes: [UInt8] = []
    value.forEachByte(of: message) { bytes.append($0) }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func refuse(_ kind: String) throws {
    try Descriptor.output.write(JSON.object([("Err", .object([("kind", .text(kind))]))]).description + "\n")
  }

  private func agree(_ kind: String) throws {
    try Descriptor.output.write(JSON.object([("Ok", .object([("kind", .text(kind))]))]).description + "\n")
  }

  private func entry(_ registry: Registry) throws -> Entry? {
    let entries = try keychain.items(KeychainQuery(service: CargoFormat.service, group: group))
    let known = entries.first { $0.item[Self.index]?.utf8.elementsEqual(registry.index.utf8) ?? false }
    if let known { return known }
    guard registry.isKnownByName, let name = registry.name else { return nil }
    return entries.first { $0.item[Self.index] == nil && ($0.item["account"] ?? "").utf8.elementsEqual(name.utf8) }
  }

  // MARK: Operations

  private func get(_ registry: Registry) throws {
    guard let entry = try entry(registry) else { return try refuse("not-found") }
    try about(entry.nameWithGroup) {
      var secret = try keychain.secret(of: entry.reference, purpose: "cargo: \(registry.name ?? registry.index)")
      // As echo(1) writes it: no token has one.
      secret.dropLineEnd()
      let token = try SecretFilter.json.apply(to: secret)
      try Descriptor.output.write("{\"Ok\":{\"kind\":\"get\",\"token\":")
      try token.withBytes { try Descriptor.output.write($0) }
      try Descriptor.output.write(",\"cache\":\"session\",\"operation_independent\":true}}\n")
    }
  }

  /// Nothing is written if the registry has this token already.
  private func login(_ registry: Registry, _ token: JSONText?, _ message: HeldSecret) throws {
    guard let token, token.isString else {
      throw Failure.usage("the token is missing, and cargo has the terminal", hint: "cargo login TOKEN")
    }
    var secret = try Secret(count: token.range.count)
    var count = 0
    token.forEachByte(of: message) { byte in
      secret.write(byte, at: count)
      count += 1
    }
    secret.truncate(to: count)
    if let entry = try entry(registry) {
      try about(entry.nameWithGroup) {
        let isSame = try keychain.secret(of: entry.reference, purpose: "cargo: compare").isEqual(to: secret)
        if !isSame || entry.item[Self.index] == nil {
          try keychain.update(entry.reference, secret: secret) { $0[Self.index] = registry.index }
        }
      }
    } else {
      try add(registry, secret)
    }
    try agree("login")
  }

  private func add(_ registry: Registry, _ secret: borrowing Secret) throws {
    let names = try keychain.items(KeychainQuery(service: CargoFormat.service, group: group)).map { $0.item["account"] ?? "" }
    let account = registry.name.flatMap { names.contains($0) ? nil : $0 } ?? registry.index
    let name = try ItemName(service: CargoFormat.service, account: account)
    try plainText.check(name, typed: nil, isInputAllowed: false)
    var item = try name.item(.genericPassword)
    item[Self.index] = registry.index
    do { try keychain.add(item, secret: secret, group: group) } catch { throw Failure(error, about: "\(name)") }
  }

  /// coffer secret restore brings it back.
  private func logout(_ registry: Registry) throws {
    guard let entry = try entry(registry) else { return try refuse("not-found") }
    _ = try about(entry.nameWithGroup) { try keychain.remove(entry.reference) }
    try agree("logout")
  }
}
