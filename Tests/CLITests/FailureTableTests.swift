import CofferApps
import CofferCommand
import CofferConsole
import CofferFiles
import CofferLifecycle
import CofferPreferences
import CofferRequests
import CofferStorage
import CredentialProtocols
import DefaultsCommand
import Explanations
import ForeignFormats
import ProgramSecrets
import SecretMemory
import Testing
import VaultCore

/// Every error code has its exit status. The compiler holds the tables of closed codes against them; the codes of `VaultError` are read
/// where they are declared.
@Suite struct FailureTableTests {
  private static let root = TranscriptTests.directory.dropLast("Tests/CLITests/Transcripts".utf8.count)

  private static func codes(in file: String) throws -> Set<String> {
    let lines = try Workspace.read(root + file).split(separator: "\n")
    return Set(lines.compactMap { $0[...].after(" = Self(\"")?.split(separator: "\"").first.map(String.init) })
  }

  @Test func vaultErrors() throws {
    let files = [
      "SecretMemory/VaultError.swift", "VaultCore/VaultErrorCodes.swift", "AccessRights/AccessErrorCodes.swift",
      "VaultUpkeep/UpkeepErrorCodes.swift",
    ]
    let codes = try files.reduce(into: Set<String>()) { try $0.formUnion(Self.codes(in: "Vault/" + $1)) }
    #expect(codes.count > 40)
    #expect(codes.symmetricDifference(VaultExplanations.all.keys.map(\.name)) == [])
  }

  /// The commands of a hint concern the vault that the command was about.
  @Test func hintsNameTheVaultOfTheSystem() {
    func hint(_ text: String) -> String? { Failure(.integrity, "", hint: text).naming(system: true).hint }
    #expect(hint("coffer vault repair, then rotate") == "coffer vault repair --system, then rotate")
    #expect(hint("coffer vault verify --vault a; coffer unlock") == "coffer vault verify --vault a; coffer unlock --system")
    #expect(hint("as root: coffer vault restore --user 7 FILE") == "as root: coffer vault restore --user 7 FILE")
    #expect(Failure(.integrity, "", hint: "coffer vault repair").naming(system: false).hint == "coffer vault repair")
  }

  /// An agent of a later version may name a cause that this command does not have: then the code counts.
  @Test func anUnknownCauseHasTheStatusOfItsCode() {
    let error = KeychainError(.integrity, cause: .vault(VaultError.Code("somethingNew")))
    #expect(error.explanation.status == KeychainError(.integrity).explanation.status)
    #expect(error.explanation.status == .integrity)
  }

  @Test func noFailureLooksLikeSuccess() {
    let closed =
      StorageError.Code.allCases.map { StorageError($0).explanation }
      + PreferenceError.Code.allCases.map { PreferenceError($0).explanation }
      + LifecycleError.Code.allCases.map { LifecycleError($0).explanation }
      + AppsError.Code.allCases.map { AppsError($0).explanation }
      + CredentialError.Code.allCases.map { CredentialError($0).explanation }
      + FileError.Code.allCases.map { FileError($0).explanation }
      + TextError.Code.allCases.map { TextError($0).explanation }
      + ForeignError.Code.allCases.map { ForeignError($0, line: 1).explanation }
    for explanation in closed + VaultExplanations.all.values {
      #expect(explanation.status != .ok && !explanation.message.isEmpty && !explanation.message.contains("\n"))
    }
  }
}
