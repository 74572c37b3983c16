import Foundation
import Testing

@Suite struct ImportTests {
  private static var coreWithoutC: [SourceFile] {
    SourceFile.all(in: "Vault").filter { file in
      !["Vault/SecretMemory/", "Vault/VaultCore/Sodium/", "Vault/PublicKeyBoxes/"].contains { file.path.hasPrefix($0) }
    }
  }

  /// libsodium and the kernel's memory calls are reached from three folders alone.
  @Test func keysMeetCInThreeFolders() {
    for file in Self.coreWithoutC {
      #expect(file.imports.isDisjoint(with: ["CSodium", "CLinux", "Glibc"]), "\(file.path)")
    }
    for file in SourceFile.all(in: "Sources") { #expect(!file.imports.contains("CSodium"), "\(file.path)") }
  }

  /// The library copies what it examines into ordinary memory, which only the end of a process clears.
  @Test func theStrengthOfPassphrasesIsEstimatedElsewhere() {
    let files = SourceFile.all(in: "Sources").filter { $0.imports.contains("CZxcvbn") }
    #expect(files.map(\.path) == ["Sources/CofferStrength/main.swift"])
  }

  /// Private interfaces may change with the compiler, and with them whether a vault opens.
  @Test func nothingUsesPrivateInterfacesOfOtherModules() {
    for folder in ["Vault", "Sources"] {
      for file in SourceFile.all(in: folder) { #expect(!file.code.contains { $0.contains("@_spi") }, "\(file.path)") }
    }
  }

  @Test func unsafeCodeOfTheCoreIsInThreeFolders() {
    for file in Self.coreWithoutC {
      let uses = file.code.filter { $0.range(of: #"\bunsafe\b"#, options: .regularExpression) != nil }
      #expect(uses.isEmpty, "\(file.path): \(uses)")
    }
  }
}
