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
