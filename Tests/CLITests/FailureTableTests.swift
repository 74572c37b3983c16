import CofferCommand
import CofferConsole
import DefaultsCommand
import Testing

/// Every error code has its exit status, and the table has no others. The codes are read where they are declared.
@Suite struct FailureTableTests {
  private static let root = TranscriptTests.directory.dropLast("Tests/CLITests/Transcripts".utf8.count)

  private static func codes(in file: String) throws -> Set<String> {
    let lines = try Workspace.read(root + file).split(separator: "\n")
    return Set(lines.compactMap { $0[...].after(" = Self(\"")?.split(separator: "\"").first.map(String.init) })
  }

  @Test func vaultErrors() throws {
    let codes = try Self.codes(in: "Vault/VaultErrorCodes.swift")
    #expect(codes.count > 40)
    #expect(codes.symmetricDifference(FailureTable.vault.keys) == [])
  }

  @Test func storageErrors() throws {
    let codes = try Self.codes(in: "Sources/CofferStorage/StorageErrorCodes.swift")
    #expect(codes.count > 10)
    #expect(codes.symmetricDifference(FailureTable.storage.keys) == [])
  }

  @Test func preferenceErrors() throws {
    let codes = try Self.codes(in: "Sources/CofferPreferences/PreferenceError.swift")
    #expect(codes.count > 10)
    #expect(codes.symmetricDifference(FailureTable.preferences.keys) == [])
  }

  @Test func errorsOfApps() throws {
    let codes = try Self.codes(in: "Sources/CofferApps/AppsError.swift")
    #expect(codes.count > 5)
    #expect(codes.symmetricDifference(FailureTable.applications.keys) == [])
  }

  @Test func errorsOfContainers() throws {
    let codes = try Self.codes(in: "Sources/CofferFiles/Directories/ContainerError.swift")
    #expect(codes.count > 10)
    #expect(codes.symmetricDifference(FailureTable.containers.keys) == [])
  }

  @Test func noFailureLooksLikeSuccess() {
    let tables = [
      FailureTable.vault, FailureTable.storage, FailureTable.preferences, FailureTable.applications, FailureTable.containers,
    ]
    let entries = tables.flatMap(\.values)
    #expect(entries.allSatisfy { $0.status != .ok && !$0.message.isEmpty && !$0.message.contains("\n") })
  }
}
