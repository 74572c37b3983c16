import Coffer
package import CofferFiles
import CofferWire
import Glibc
import MessageBus
import SecretMemory
import VaultCore

/// Carries out `ProviderRequest`s of `coffer` over a socket. It reaches the other program alone, and neither an agent nor a vault.
package final class ProviderBridge {
  private let channel: FrameChannel
  private var provider: Provider?
  private var listed: (path: String, paths: [String])?

  /// - Parameter socket: Connected to `coffer`.
  package init(_ socket: consuming OwnedDescriptor) { channel = FrameChannel(socket) }

  /// Until `coffer` closes the connection.
  /// - Parameter program: The path of a process's program.
  /// - Throws: errors of the connection.
  package func run(program: (Int32) -> String) throws {
    var bus: Bus?
    while var frame = try channel.receive() {
      let answer: Secret
      do {
        guard frame.header.kind == ProviderRequest.request, let message = frame.message.take(),
          let verb = message.texts.first, let request = ProviderRequest(rawValue: verb)
        else { return }
        if bus == nil { bus = try Bus() }
        guard let bus else { return }
        let reply = try self.answer(request, message, bus, program)
        answer = try reply.frame(ProviderRequest.answer, request: 0)
      } catch {
        answer = try Message(texts: Self.texts(of: error)).frame(.failed, request: 0)
      }
      try channel.send(answer)
    }
  }

  private static func texts(of error: any Error) -> [String] {
    switch error {
    case let error as BusError: [error.name, String(error.text.prefix(200))]
    case let error as Bus.Failure: [ProviderRequest.Problem.noBus.rawValue, ErrorNumber.text(of: error.number)]
    // The attributes of an item take more than a frame has beside the secret.
    case is WireError: [ProviderRequest.Problem.tooLarge.rawValue, ""]
    default: [BusError(error).name, BusError(error).text]
    }
  }

  private func answer(
    _ request: ProviderRequest, _ message: borrowing Message, _ bus: Bus, _ program: (Int32) -> String
  ) throws -> Message {
    let words = Array(message.texts.dropFirst())
    func word(_ index: Int) throws(BusError) -> String {
      guard words.indices.contains(index) else { throw .malformed }
      return words[index]
    }
    guard request != .provider else { return try find(on: bus, program) }
    guard let provider else { throw BusError(.noProvider, "") }
    switch request {
    case .provider: throw BusError.malformed
    case .collections: return try part(of: ObjectPath.root, from: word(0)) { try provider.collections() }
    case .collection:
      let (label, isLocked) = try provider.collection(word(0))
      return Message(texts: [label, isLocked ? "locked" : ""])
    case .alias: return Message(texts: [try provider.collection(at: word(0))])
    case .items:
      let collection = try word(0)
      return try part(of: collection, from: word(1)) { try provider.items(of: collection) }
    case .item:
      let (content, modified) = try provider.item(word(0))
      var item = Item(.genericPassword)
      content.write(into: &item)
      return Message(texts: [String(modified)], fields: item.attributes)
    case .secret:
      let sent = try provider.secret(of: word(0))
      let type = sent.contentType
      guard type.utf8.count <= Attributes.maximumValueByteCount else { throw BusError(.tooLarge, "") }
      return Message(texts: [type], secret: try sent.secret.duplicate())
    case .unlock:
      try provider.unlock(words)
      return Message(texts: [])
    case .make: return Message(texts: [try provider.make(word(0), isAsking: word(1) == "prompt")])
    case .add:
      var item = Item(.genericPassword)
      item.attributes = message.fields
      let path = try provider.add(
        ServedContent(of: item), message.sent(), contentType: word(1), to: word(0), isAsking: word(2) == "prompt")
      return Message(texts: [path])
    case .replace:
      try provider.replace(word(0), message.sent(), contentType: word(1))
      return Message(texts: [])
    }
  }

  private func find(on bus: Bus, _ program: (Int32) -> String) throws -> Message {
    guard let name = try bus.uniqueOwner(of: Service.name), let process = try bus.owner(of: name) else {
      throw BusError(.noProvider, "")
    }
    let found = try Provider(name, on: bus)
    provider = found
    return Message(texts: [String(process), program(process), try found.isOwn() ? "own" : ""])
  }

  /// Asked for once, and handed on in parts.
  private func part(of path: String, from start: String, _ list: () throws -> [String]) throws -> Message {
    let start = Int(start) ?? 0
    if start == 0 || listed?.path != path { listed = (path, try list()) }
    return Message(texts: Array((listed?.paths ?? []).dropFirst(start).prefix(ProviderRequest.mostPaths)))
  }
}

extension Message {
  /// A frame without bytes has an empty secret.
  fileprivate borrowing func sent() throws -> Secret {
    switch secret {
    case .some(let secret): try secret.duplicate()
    case .none: try Secret(count: 0)
    }
  }
}
