import Coffer
import CofferWire
import MessageBus
import SecretMemory
import VaultCore

/// Another program that serves the Secret Service, as its client.
final class Provider {
  /// By which the bus sends a call, also if another program takes the name meanwhile: `:1.7`.
  let name: String
  private let bus: Bus
  private let session: Session
  private let sessionPath: String

  /// - Parameter name: The unique name of the program.
  /// - Throws: `BusError`; `Bus.Failure`; errors of locked memory.
  init(_ name: String, on bus: Bus) throws {
    (self.name, self.bus) = (name, bus)
    func open(_ algorithm: String, _ input: Value) throws -> (Value, path: String) {
      let answer = try bus.call(
        name, ObjectPath.root, Interface.service.name, "OpenSession", [.text(algorithm), .variant(input)])
      guard answer.count == 2, case .variant(let output) = answer[0], case .path(let path) = answer[1] else {
        throw BusError.malformed
      }
      return (output, path)
    }
    do {
      let side = try KeyAgreement.Side()
      let (output, path) = try open(Session.encrypted, .bytes(Value.Bytes(try side.publicNumber.duplicate())))
      guard case .bytes(let peer) = output else { throw BusError.malformed }
      (session, sessionPath) = (Session(withKey: try side.key(with: peer.secret)), path)
    } catch let error as BusError where error.name == BusError.notSupported("").name {
      (session, sessionPath) = (Session(withKey: nil), try open(Session.plain, .text("")).path)
    }
  }

  private func call(_ path: String, _ interface: Interface, _ member: String, _ arguments: [Value]) throws -> [Value] {
    try bus.call(name, path, interface.name, member, arguments)
  }

  private func properties(_ path: String, _ interface: Interface) throws -> [String: Value] {
    let answer = try bus.call(name, path, Interface.properties, "GetAll", [.text(interface.name)])
    guard let properties = answer.first?.dictionary else { throw BusError.malformed }
    return properties
  }

  // MARK: Reading

  /// Whether it is `coffer-secrets` with the same agent.
  func isOwn() throws -> Bool {
    let own = try Keychain.agentPath()
    let answer = try? bus.call(
      name, ObjectPath.root, Interface.properties, "Get", [.text(Interface.agent.name), .text(Interface.agentPath)])
    guard case .variant(.text(let path))? = answer?.first else { return false }
    return path == own
  }

  func collections() throws -> [String] { try paths("Collections", of: ObjectPath.root, Interface.service) }

  func collection(_ path: String) throws -> (label: String, isLocked: Bool) {
    let properties = try properties(path, Interface.collection)
    guard case .text(let label)? = properties["Label"], case .flag(let isLocked)? = properties["Locked"] else {
      throw BusError.malformed
    }
    return (label, isLocked)
  }

  func collection(at alias: String) throws -> String {
    guard case .path(let path)? = try call(ObjectPath.root, Interface.service, "ReadAlias", [.text(alias)]).first else {
      throw BusError.malformed
    }
    return path == ObjectPath.none ? "" : path
  }

  func items(of collection: String) throws -> [String] {
    try paths("Items", of: collection, Interface.collection)
  }

  private func paths(_ property: String, of path: String, _ interface: Interface) throws -> [String] {
    let answer = try bus.call(name, path, Interface.properties, "Get", [.text(interface.name), .text(property)])
    guard case .variant(let value)? = answer.first, case .array("o", _) = value else { throw BusError.malformed }
    return value.pathTexts
  }

  /// - Throws: also `BusError`: `ProviderRequest.Problem`, with the label, for one that the vault cannot hold.
  func item(_ path: String) throws -> (ServedContent, modified: UInt64) {
    let properties = try properties(path, Interface.item)
    guard case .text(let label)? = properties["Label"], case .array("{ss}", _)? = properties["Attributes"],
      let attributes = properties["Attributes"]?.texts
    else { throw BusError.malformed }
    let content = ServedContent(label: label, attributes: attributes)
    switch content.misfit {
    case .attributeName?: throw BusError(.name, label)
    case .label?, .attribute?, .attributeCount?: throw BusError(.tooLarge, label)
    case nil: break
    }
    guard case .number(let modified)? = properties["Modified"] else { return (content, 0) }
    return (content, modified)
  }

  struct Sent: ~Copyable {
    let secret: Secret
    let contentType: String
  }

  func secret(of item: String) throws -> Sent {
    let answer: [Value]
    do {
      answer = try call(item, Interface.item, "GetSecret", [.path(sessionPath)])
    } catch let error as BusError where error.name == BusError.limitsExceeded("").name {
      throw BusError(.tooLarge, "")
    }
    guard case .structure(let parts)? = answer.first, parts.count == 4, case .bytes(let parameters) = parts[1],
      case .bytes(let value) = parts[2], case .text(let type) = parts[3]
    else { throw BusError.malformed }
    let secret: Secret
    do { secret = try session.unwrap(parameters, value) } catch is BusError { throw BusError.malformed }
    guard secret.count <= ServedContent.maximumSecretByteCount else { throw BusError(.tooLarge, "") }
    return Sent(secret: secret, contentType: type)
  }

  // MARK: Changing

  func unlock(_ collections: [String]) throws {
    let answer = try call(ObjectPath.root, Interface.service, "Unlock", [.paths(collections)])
    guard answer.count == 2, case .path(let prompt) = answer[1] else { throw BusError.malformed }
    if prompt != ObjectPath.none { _ = try complete(prompt) }
  }

  /// - Throws: also `BusError`: `needsPerson`.
  func make(_ label: String, isAsking: Bool) throws -> String {
    let properties = Value.properties([("\(Interface.collection.name).Label", .text(label))])
    return try made(by: call(ObjectPath.root, Interface.service, "CreateCollection", [properties, .text("")]), isAsking)
  }

  /// - Returns: The path of what was made.
  private func made(by answer: [Value], _ isAsking: Bool) throws -> String {
    guard answer.count == 2, case .path(let path) = answer[0], case .path(let prompt) = answer[1] else {
      throw BusError.malformed
    }
    guard path == ObjectPath.none else { return path }
    guard prompt != ObjectPath.none else { throw BusError.malformed }
    guard isAsking else {
      _ = try? call(prompt, Interface.prompt, "Dismiss", [])
      throw BusError(.needsPerson, "")
    }
    guard case .variant(.path(let made)) = try complete(prompt) else { throw BusError.malformed }
    return made
  }

  /// Waits for what a person answers.
  private func complete(_ prompt: String) throws -> Value {
    try bus.wait(for: "Completed", at: prompt, Interface.prompt.name, of: name) {
      _ = try call(prompt, Interface.prompt, "Prompt", [.text("")])
    } _: { body in
      guard let body else { throw BusError.hasGone }
      guard body.count == 2, case .flag(let isDismissed) = body[0] else { throw BusError.malformed }
      guard !isDismissed else { throw BusError(.dismissed, "") }
      return body[1]
    }
  }

  /// - Parameter isAsking: Whether the program may ask a person. KeePassXC makes no item without a prompt, also if it asks nothing.
  /// - Throws: also `BusError`: `needsPerson`.
  func add(
    _ content: ServedContent, _ secret: consuming Secret, contentType: String, to collection: String, isAsking: Bool
  ) throws -> String {
    let properties = Value.properties([
      ("\(Interface.item.name).Label", .text(content.label ?? "")),
      ("\(Interface.item.name).Attributes", .texts(content.attributes ?? [:])),
    ])
    let value = try session.wrap(secret, contentType: contentType, path: sessionPath)
    return try made(by: call(collection, Interface.collection, "CreateItem", [properties, value, .flag(false)]), isAsking)
  }

  func replace(_ item: String, _ secret: consuming Secret, contentType: String) throws {
    _ = try call(item, Interface.item, "SetSecret", [try session.wrap(secret, contentType: contentType, path: sessionPath)])
  }
}

extension BusError {
  init(_ problem: ProviderRequest.Problem, _ text: String) { self.init(problem.rawValue, text) }

  /// An answer of another form than the interface has.
  static let malformed = BusError(.malformed, "")
  static let hasGone = BusError("org.freedesktop.DBus.Error.NoReply", "")
}
