import CofferStorage
import CofferTesting
import Foundation
import Testing
import VaultCore

/// A file of the draft of the format is told from a damaged one, and left as it is.
@Suite struct DraftTests {
  @Test func aDraftIsRefusedByName() throws {
    let directory = try Directory(inMemory: true)
    let path = directory.file("vault.coffer")
    let fixture = ReferenceVectorTests.reference.appending(path: "../Vectors/Draft/vault.coffer")
    let bytes = try Data(contentsOf: fixture)
    try bytes.write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    #expect(code { _ = try FileStore(at: path) } == "migrationNeeded")
    #expect(code { _ = try FileStore.create(at: path) } == "vaultExists")
    #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
  }

  /// Each format of before that can be converted is a row of a table, and a later one is none of them.
  @Test(arguments: [(2, "newerFormat"), (0, "notAVault")]) func onlyTheVersionThatIsKnownIsConverted(
    version: UInt8, expected: String
  ) throws {
    let directory = try Directory(inMemory: true)
    let path = directory.file("vault.coffer")
    var bytes = try Data(contentsOf: ReferenceVectorTests.reference.appending(path: "../Vectors/Draft/vault.coffer"))
    bytes[63] = version
    try bytes.write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    #expect(code { _ = try FileStore(at: path) } == expected)
    #expect(code { _ = try DraftFile(at: path) } == expected)
    #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
  }

  /// Under the application id of the format it is a file with another schema.
  @Test func aDraftUnderAnotherNameIsNoVault() throws {
    let directory = try Directory(inMemory: true)
    let path = directory.file("vault.coffer")
    var bytes = try Data(contentsOf: ReferenceVectorTests.reference.appending(path: "../Vectors/Draft/vault.coffer"))
    bytes.replaceSubrange(68..<72, with: Data("CFV2".utf8))
    try bytes.write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    #expect(code { _ = try FileStore(at: path) } == "schemaAltered")
  }
}
