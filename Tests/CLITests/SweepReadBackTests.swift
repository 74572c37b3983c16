import Coffer
import CofferConsole
import CofferTesting
import SecretMemory
import Testing
import VaultCore

@testable import CofferCommand

/// Another program changes the vault between the write of a moved secret and the change of its file.
@Suite struct SweepReadBackTests {
  /// A store that lets another program work after each change.
  private final class SharedStore: Store {
    let store = MemoryStore()
    var afterChange: () throws -> Void = {}

    func read<Result: ~Copyable>(_ body: (any Rows) throws -> Result) throws -> Result { try store.read(body) }

    func commit(_ prepare: (any Rows) throws -> Change) throws {
      try store.commit(prepare)
      try afterChange()
    }
  }

  private static let text = "DB_PASSWORD=tr0ub4dor\n"

  /// Moves the secret of a file, and has `change` done to its item as soon as it is there.
  /// - Returns: the exit status of the failure, and whether the file is as it was.
  private func moved(_ change: (inout Vault, Entry) throws -> Void) throws -> (status: Int32?, isWhole: Bool) {
    let workspace = try Workspace()
    _ = try workspace.run(script: "umask 077; mkdir shop; printf '\(Self.text.dropLast())\\n' >shop/.env")
    let file = SweptFile(SweepPlace(path: "\(workspace.path)/shop/.env", kind: .variables))
    let shared = SharedStore()
    _ = try Vault.throwAway(in: shared.store)
    let items = OpenItems(try Keychain(.openThrowAway(shared), as: .owner), application: nil)
    var isDone = false
    var status: Int32?
    try withoutActuallyEscaping(change) { change in
      shared.afterChange = {
        var other = try Vault.openThrowAway(shared.store)
        guard !isDone, let entry = try other.entry(Item(service: "shop", account: "DB_PASSWORD")) else { return }
        isDone = true
        try change(&other, entry)
      }
      defer { shared.afterChange = {} }
      do { _ = try SweepMove([file], isForced: true).move(file, items) } catch let failure as Failure {
        status = failure.status.rawValue
      }
    }
    #expect(isDone)
    return (status, try Workspace.read("\(workspace.path)/shop/.env") == Self.text)
  }

  @Test func aSecretThatTheVaultDoesNotGiveBackStaysInItsFile() throws {
    let outcome = try moved { try $0.update($1.reference, secret: Secret(testing: "meanwhile"), at: .test) }
    #expect(outcome.status == 9 && outcome.isWhole)
  }

  @Test func aSecretThatWasRemovedMeanwhileStaysInItsFile() throws {
    let outcome = try moved { try $0.remove($1.reference, at: .test) }
    #expect(outcome.status == 9 && outcome.isWhole)
  }

  /// The control.
  @Test func aSecretThatTheVaultGivesBackIsMoved() throws {
    let outcome = try moved { _, _ in }
    #expect(outcome.status == nil && !outcome.isWhole)
  }
}
