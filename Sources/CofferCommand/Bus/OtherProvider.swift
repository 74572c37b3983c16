import CLinux
import CofferConsole
import CofferFiles
import CofferWire
import Glibc
import ProgramSecrets
import SecretMemory
import VaultCore

/// Another program that serves the Secret Service. `coffer-secrets` is its client, and has no vault; this process is on no bus. One request
/// at a time: `ProviderRequest`.
final class OtherProvider {
  struct Collection {
    let path: String
    let label: String
    let isLocked: Bool
  }

  /// The error that the program, or the bus, has answered.
  struct Refusal: Error {
    let name: String
    let text: String

    var problem: ProviderRequest.Problem? { .init(rawValue: name) }
    /// Whether it concerns one item, and the others can be had.
    var isOfOneItem: Bool {
      switch problem {
      case .tooLarge?, .name?: true
      case .noProvider?, .noBus?, .malformed?, .needsPerson?, .dismissed?: false
      case nil: !["NoReply", "Timeout", "ServiceUnknown", "NameHasNoOwner", "Disconnected", "NoSession"].contains(last)
      }
    }

    /// Whether the item is locked by itself. KeePassXC locks each one until a person allows it.
    var isLocked: Bool { last == "IsLocked" }

    private var last: String { name.split(separator: ".").last.map(String.init) ?? "" }

    /// For programs that read the report.
    var reason: String {
      switch problem {
      case .tooLarge?: "too-large"
      case .name?: "name-not-allowed"
      default: "refused"
      }
    }

    var words: String {
      switch problem {
      case .tooLarge?: return "is larger than an item can hold"
      case .name?: return "the name of an attribute is empty, or has a control character"
      case .malformed?: return "it answers in another form than the Secret Service has"
      case .dismissed?: return "its question was answered with no"
      case .needsPerson?: return "it wants to ask at the display"
      case .noProvider?, .noBus?: return text
      case nil: break
      }
      switch last {
      case "IsLocked": return "it has this item locked"
      case "Timeout": return "it does not answer"
      case "NoReply", "ServiceUnknown", "NameHasNoOwner", "Disconnected": return "it has ended"
      default: return text.isEmpty ? last : "\(last): \(text)"
      }
    }
  }

  /// For messages.
  private(set) var program = "the program that serves the Secret Service"
  private let channel: FrameChannel
  private let process: pid_t
  private let work: LongWork

  /// - Throws: not found, if no program serves; other, if it is this user's `coffer-secrets`; I/O.
  init(_ work: LongWork) throws {
    self.work = work
    var ends: [Int32] = [-1, -1]
    guard unsafe coffer_local_pair(&ends) == 0, let own = OwnedDescriptor(ends[0]), let other = OwnedDescriptor(ends[1]) else {
      throw SystemError.last.failure("socketpair")
    }
    var child = ChildProgram(try SessionBus.program(), ["--provider"])
    child.streams = [.descriptor(other.number), .none, .same]
    // An interrupt ends it when this process has said how far the work has come.
    child.hasSession = true
    child.blocked = ChildProgram.noSignals
    child.defaults = ChildProgram.allSignals
    let started = child.start()
    guard started.errno == 0 else { throw SystemError(number: started.errno).failure("coffer-secrets") }
    process = started.process
    channel = FrameChannel(own)
    let found: [String]
    do {
      found = try ask(.provider).texts
    } catch let refusal as Refusal {
      throw failure(refusal)
    }
    program = found.count > 1 ? Path.name(of: found[1]) : program
    guard found.last != "own" else {
      throw Failure(
        .other, "coffer-secrets itself serves the Secret Service, from the vault of this agent",
        hint: "end it and start the other program: kill \(found[0]); gnome-keyring-daemon --start --components=secrets")
    }
  }

  deinit {
    kill(process, SIGTERM)
    _ = ChildProgram.wait(for: process)
  }

  /// A refusal that ends the work.
  func failure(_ refusal: Refusal) -> Failure {
    switch refusal.problem {
    case .noProvider?:
      Failure(
        .notFound, "no program serves the Secret Service",
        hint: "start the other one: gnome-keyring-daemon --start --components=secrets")
    case .noBus?: SessionBus.noBus
    case .needsPerson?:
      Failure(
        .locked, "\(program): \(refusal.words)",
        hint: "--prompt lets it, if this session has a display; --collection LABEL leaves others out")
    case .dismissed?: .cancelled
    case .malformed?: Failure(.other, "\(program): \(refusal.words)")
    default: Failure(.inputOutput, "\(program): \(refusal.words)")
    }
  }

  // MARK: Requests

  private struct Answer {
    let texts: [String]
    let fields: Attributes
    let secret: HeldSecret
  }

  /// - Throws: `Refusal`; cancelled, after a signal.
  private func ask(
    _ request: ProviderRequest, _ words: [String] = [], _ fields: Attributes = Attributes(), _ secret: HeldSecret? = nil
  ) throws -> Answer {
    try work.check()
    do {
      let message = Message(texts: [request.rawValue] + words, fields: fields, secret: try secret?.secret.duplicate())
      try channel.send(message.frame(ProviderRequest.request, request: 0))
      try work.wait(for: channel.descriptor)
      guard var frame = try channel.receive(), var answer = frame.message.take() else { throw FrameChannel.Failure.closed }
      guard frame.header.kind == ProviderRequest.answer else {
        let texts = answer.texts
        throw Refusal(name: texts.first ?? "", text: texts.last ?? "")
      }
      return Answer(texts: answer.texts, fields: answer.fields, secret: try HeldSecret(answer.secret.take() ?? Secret(count: 0)))
    } catch let failure as FrameChannel.Failure {
      try work.check()
      throw Failure(.inputOutput, "coffer-secrets: \(failure)")
    } catch is WireError {
      throw Refusal(name: ProviderRequest.Problem.tooLarge.rawValue, text: "")
    }
  }

  private func text(_ request: ProviderRequest, _ words: [String]) throws -> String { try ask(request, words).texts.first ?? "" }

  private func paths(_ request: ProviderRequest, _ words: [String] = []) throws -> [String] {
    var all: [String] = []
    while true {
      let part = try ask(request, words + [String(all.count)]).texts
      guard !part.isEmpty else { return all }
      all += part
    }
  }

  /// Without those of the session, which are gone with it.
  func collections() throws -> [Collection] {
    let session = try collection(at: "session")
    return try paths(.collections).filter { $0 != session }.map { path in
      let texts = try ask(.collection, [path]).texts
      return Collection(path: path, label: texts.first ?? "", isLocked: texts.last == "locked")
    }
  }

  /// The path; empty if there is none.
  func collection(at alias: String) throws -> String { try text(.alias, [alias]) }

  func items(of collection: Collection) throws -> [String] { try paths(.items, [collection.path]) }

  func item(_ path: String) throws -> (content: Item, modified: UInt64) {
    let answer = try ask(.item, [path])
    var item = Item(.genericPassword)
    item.attributes = answer.fields
    return (item, UInt64(answer.texts.first ?? "") ?? 0)
  }

  func secret(of path: String) throws -> (held: HeldSecret, contentType: String) {
    let answer = try ask(.secret, [path])
    return (answer.secret, answer.texts.first ?? "")
  }

  /// Waits for a person.
  func unlock(_ paths: [String]) throws {
    for start in stride(from: 0, to: paths.count, by: ProviderRequest.mostPaths) {
      _ = try ask(.unlock, Array(paths[start...].prefix(ProviderRequest.mostPaths)))
    }
  }

  func make(_ label: String, isAsking: Bool) throws -> Collection {
    Collection(path: try text(.make, [label, isAsking ? "prompt" : ""]), label: label, isLocked: false)
  }

  func add(_ item: Item, _ secret: HeldSecret, contentType: String, to collection: Collection, isAsking: Bool) throws -> String {
    try ask(.add, [collection.path, contentType, isAsking ? "prompt" : ""], item.attributes, secret).texts.first ?? ""
  }

  func replace(_ path: String, _ secret: HeldSecret, contentType: String) throws {
    _ = try ask(.replace, [path, contentType], Attributes(), secret)
  }
}
