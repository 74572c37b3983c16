import Coffer
import CofferConsole
import CofferLifecycle
import CofferRequests
import CofferWire
import SecretMemory
import VaultCore

extension SystemVault {
  /// The agent makes the keys. This process asks, derives the keys of credentials, and makes and prints recovery keys.
  func rotate(_ dialogue: RotationDialogue) throws -> RotationOutcome {
    try dialogue.check(slots())
    return try withCredential { proof in
      let client = try RotationClient(dialogue, options.ceiling, proof.duplicate())
      do { return try keychain.rotate(dialogue.order, by: proof, ceiling: options.ceiling, client) } catch {
        let isInDoubt = Self.isInDoubt(error)
        dialogue.noteLeft(after: error, isInDoubt: isInDoubt)
        // An error in the credential of another slot is not one in this one, which is not asked for again.
        guard client.isBegun, !(error is UnsoundVault) else { throw error }
        throw dialogue.failure(Failure(error, about: name), isInDoubt: isInDoubt)
      }
    }
  }
}

extension SystemVault {
  /// Whether the agent has not told how the request ended.
  fileprivate static func isInDoubt(_ error: any Error) -> Bool {
    [.inDoubt, .agent, .agentNotAnswering].contains((error as? KeychainError)?.code)
  }
}

/// The command's part of a rotation by the agent.
private final class RotationClient: UpkeepClient {
  private let dialogue: RotationDialogue
  private let ceiling: KDFCeiling
  private let opened: OpeningCredential
  private let work = UpkeepShow()
  /// Whether the agent has accepted the proof.
  private(set) var isBegun = false

  init(_ dialogue: RotationDialogue, _ ceiling: KDFCeiling, _ opened: consuming Credential) throws {
    (self.dialogue, self.ceiling, self.opened) = (dialogue, ceiling, OpeningCredential(opened))
  }

  func show(_ progress: UpkeepProgress) throws {
    isBegun = true
    dialogue.begin()
    try dialogue.stepping { try work.show(progress) }
  }

  func reply(to question: UpkeepQuestion) throws -> UpkeepReply {
    isBegun = true
    if question.kind != .shown { try work.pause() }
    switch question.kind {
    case .agreement:
      try dialogue.agree(to: RotationPlan(wireRows: question.rows))
      return .yes
    case .credential:
      let slot = try RotationPlan.Slot(wireRows: question.rows)
      return try derived(dialogue.credentials(for: slot, opened.credential), for: slot)
    case .shown:
      try dialogue.prepare(backup: UpkeepQuestion.backup(in: question.rows), during: work.holding())
      return .yes
    case .file, .offer, .opening: throw KeychainError(.agent, "a question that was not expected")
    }
  }

  private func derived(_ credentials: consuming SlotCredentials, for slot: RotationPlan.Slot) throws -> UpkeepReply {
    let new = try Keychain.derived(credentials.new, forNewSlot: slot.kdf)
    switch credentials.present {
    case .some(let present):
      return .credentials(present: try Keychain.derived(present, slot.description, ceiling), new: new)
    case .none: return .credentials(present: nil, new: new)
    }
  }
}
