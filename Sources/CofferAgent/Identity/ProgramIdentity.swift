package import CofferRequests

/// The identity of a program, as observed from outside of it. The strongest that applies.
package enum ProgramIdentity: Hashable, Sendable {
  /// A program of an installed app: its content is one that the app's team has signed.
  case app(String)
  /// Runs in the sandbox of this application of Flatpak.
  case flatpak(String)
  /// `coffer` itself.
  case command
  /// Another program of Coffer.
  case own(OwnProgram)
  /// Belongs to this service of the system.
  case unit(String)
  /// None of these, on a local file system. The owner may grant something to exactly this content.
  case program(path: String, digest: String)
  /// Runs a program of another author, so that its file does not identify what runs: an interpreter and its script.
  case interpreter(path: String)
  /// A program that a program of Coffer asks for.
  indirect case client(ProgramIdentity, of: OwnProgram)
  /// Everything else, and why.
  case unknown(String)
}

extension ProgramIdentity {
  /// Under which it can be granted something, where it is not an app.
  package var grantedName: String? {
    switch self {
    case .unit(let name): GrantedProgram.unit(name).name
    case .flatpak(let identifier): GrantedProgram.flatpak(identifier).name
    case .program(_, let digest): GrantedProgram.program(digest).name
    case .command: Caller.commandName
    case .own(let program), .client(_, of: let program): program.rawValue
    case .app, .interpreter, .unknown: nil
    }
  }
}
