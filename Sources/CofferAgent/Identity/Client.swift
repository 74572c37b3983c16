import CofferRequests

/// The program that `coffer-secrets` asks for, as this agent has identified it.
package struct Client: Equatable, Sendable {
  package let program: ProgramIdentity
  /// nil if it is not known.
  let peer: Peer?

  package static let unknown = Client(program: .unknown("not known"), peer: nil)

  package static func == (left: Client, right: Client) -> Bool {
    left.program == right.program && left.peer?.process == right.peer?.process
  }
}

/// The process that `coffer-secrets` has named last on a connection. For one thread.
///
/// Its program is not remembered: a process may become another one at any time.
final class NamedPeer {
  private var known: (start: UInt64, peer: Peer)?

  /// - Parameter start: As `ProcessStart` has it.
  /// - Throws: `Peer.Failure`.
  func peer(_ process: Int32, start: UInt64, user: UInt32) throws(Peer.Failure) -> Peer {
    // While it runs, its number is its own, and so is the moment at which it began.
    if let known, known.start == start, known.peer.process == process, known.peer.user == user, known.peer.isAlive {
      return known.peer
    }
    known = nil
    let peer = try Peer(process: process, start: start, user: user)
    known = (start, peer)
    return peer
  }
}

extension Gate.Facts {
  /// The program that the owner is asked about, and that an agreement is for.
  var asker: ProgramIdentity { client.map { .client($0.program, of: .secretService) } ?? program }
}

extension ProgramIdentity {
  /// For people: the path, if nothing better identifies it.
  var nameOfFile: String {
    switch self {
    case .app(let name): name
    case .program(let path, _), .interpreter(let path): path
    case .command, .own, .unit, .flatpak, .client: grantedName ?? ""
    // The reason is the path, if there is one.
    case .unknown(let why): why.hasPrefix("/") ? why : "an unknown program"
    }
  }

  /// Whether an agreement can hold for a time: one for a program that is not known would be each program's.
  var canBeRemembered: Bool {
    if case .client(.unknown, _) = self { false } else { true }
  }
}
