import CofferWire
import VaultCore

/// Proves which program sends the requests of a connection. For one thread.
///
/// The kernel names the process that sent a request, not the program that the process ran then. A program could ask for what
/// another one may have, become that one, and leave the answer to a child that holds the same connection; or become a filter,
/// with the connection as its standard output, that copies requests from a pipe. So the agent sends a random number after it has
/// identified the program, and takes requests as that program's only after the process has returned the number, by a message
/// that no filter sends, and still runs the program.
final class SenderProof {
  struct Pending {
    let facts: Gate.Facts
    let challenge: Challenge
  }

  private var program: ProgramIdentity?
  /// Whether the process was hidden when it was looked at last.
  var wasHidden = true
  /// If set, the next message has to be the response.
  private(set) var pending: Pending?

  /// The program of Coffer that has proven itself. It keeps its connection to itself, and becomes no other program.
  var own: ProgramIdentity? { if case .own? = program { program } else { nil } }

  /// Whether requests that have arrived are this program's.
  func covers(_ found: ProgramIdentity) -> Bool {
    if program != found { program = nil }
    return program != nil
  }

  /// - Throws: `VaultError` of locked memory.
  func challenge(_ facts: Gate.Facts) throws -> Challenge {
    let challenge = try Challenge.random()
    pending = Pending(facts: facts, challenge: challenge)
    return challenge
  }

  /// - Parameter found: The program of the process after the response had arrived.
  func complete(_ found: ProgramIdentity) {
    if pending?.facts.program == found { program = found }
    pending = nil
  }
}
