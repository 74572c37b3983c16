import CofferStorage
import CofferTesting
import Foundation
import SecretMemory
import Testing
import VaultCore

/// Credentials that a service manager passes.
@Suite struct ServiceCredentialsTests {
  let directory = FileManager.default.temporaryDirectory.appending(path: "coffer-credentials-\(UUID())")

  init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) }

  private func write(_ name: String, _ bytes: [UInt8]) throws { try Data(bytes).write(to: directory.appending(path: name)) }

  private func slot(_ path: String? = nil) throws -> SlotType? {
    let path = path ?? directory.path
    switch try ServiceCredentials.load(environment: { $0 == "CREDENTIALS_DIRECTORY" ? path : nil }) {
    case .some(let credential): return credential.slotType
    case .none: return nil
    }
  }

  @Test func theKeyFileCountsFirst() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    #expect(try slot() == nil)
    try write("coffer.passphrase", Array("correct horse\n".utf8))
    #expect(try slot() == .passphrase)
    try write("coffer.key", [UInt8](repeating: 1, count: 32))
    #expect(try slot() == .keyFile)
    // A directory that depends on where the program was started is none.
    #expect(try slot("credentials") == nil)
  }

  @Test func otherThanSmallRegularFilesAreRefused() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    try FileManager.default.createDirectory(at: directory.appending(path: "coffer.key"), withIntermediateDirectories: true)
    #expect(throws: StorageError(.notAVault, "")) { _ = try slot() }
    try FileManager.default.removeItem(at: directory.appending(path: "coffer.key"))
    try write("coffer.key", [UInt8](repeating: 1, count: (1 << 20) + 1))
    #expect(throws: StorageError(.wrongLength, "")) { _ = try slot() }
  }

  @Test func oneLineEndIsDropped() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    for (text, expected) in [("a\n", "a"), ("a\r\n", "a"), ("a\n\n", "a\n"), ("a", "a"), ("\n", ""), ("", ""), ("a\r", "a\r")] {
      var secret = try Secret(testing: text)
      secret.dropLineEnd()
      let isRight = try secret.isEqual(to: Secret(testing: expected))
      #expect(isRight, "\(text.debugDescription)")
    }
  }
}
