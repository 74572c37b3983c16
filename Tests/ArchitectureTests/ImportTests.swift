import Foundation
import Testing

@Suite struct ImportTests {
  /// The modules that each module may import: only modules of lower layers.
  static let allowed: [(folder: String, imports: Set<String>)] = [
    ("Vault", ["CSodium", "CLinux", "Glibc", "Synchronization", "Swift"]),
    ("Sources/Passphrases", ["VaultCore", "CUtf8proc"]),
    ("Sources/CofferFiles", ["CLinux", "Glibc"]),
    ("Sources/AppContainers", ["CofferFiles", "CLinux", "Glibc"]),
    (
      "Sources/CofferStorage",
      ["VaultCore", "Passphrases", "AppContainers", "CofferFiles", "CSQLite", "CLinux", "Glibc", "Synchronization"]
    ),
    ("Sources/CofferWire", ["VaultCore", "CofferFiles", "CLinux", "Glibc"]),
    ("Sources/CofferAudit", ["VaultCore", "AppContainers", "CofferFiles", "CLinux", "Glibc", "Synchronization"]),
    ("Sources/Pinentry", ["VaultCore", "CofferFiles", "CLinux", "Glibc"]),
    ("Sources/CofferRequests", ["VaultCore", "CofferStorage", "CofferWire", "Synchronization"]),
    (
      "Sources/CofferAgent",
      [
        "VaultCore", "CofferStorage", "AppContainers", "CofferApps", "CofferAudit", "CofferWire", "CofferRequests", "Pinentry",
        "CofferFiles",
        "CLinux",
        "Glibc", "Synchronization",
      ]
    ),
    (
      "Sources/Coffer",
      [
        "VaultCore", "CofferStorage", "CofferRequests", "Pinentry", "CofferWire", "CofferFiles", "CLinux", "AppContainers",
        "CofferApps",
        "CofferAudit",
        "Glibc", "Synchronization",
      ]
    ),
    ("Sources/CofferApps", ["VaultCore", "AppContainers", "CofferFiles", "CofferPropertyLists"]),
    ("Sources/CofferPropertyLists", []),
    ("Sources/CofferPreferences", ["CofferPropertyLists", "AppContainers", "CofferFiles", "CLinux", "Glibc", "Synchronization"]),
    (
      "Sources/PreferenceStore",
      [
        "LeakDetection", "CofferPropertyLists", "CofferPreferences", "AppContainers", "CofferFiles", "Foundation", "Observation",
        "Synchronization",
        "Logging",
      ]
    ),
    ("Sources/PreferenceStoreCombine", ["CofferPreferences", "PreferenceStore", "OpenCombine", "Synchronization"]),
    (
      "Sources/CofferWidgets",
      ["AppContainers", "CofferFiles", "CLinux", "Glibc", "Foundation", "Dispatch", "Synchronization", "Logging"]
    ),
    ("Sources/LeakDetection", ["CofferPropertyLists"]),
    ("Sources/CofferTesting", ["VaultCore"]),
    ("Sources/CofferLogind", ["Coffer", "CofferFiles", "CLinux", "CSystemd", "Glibc"]),
    (
      "Sources/CofferDaemon",
      [
        "CofferAgent", "AppContainers", "CofferAudit", "Pinentry", "CofferStorage", "VaultCore", "CofferWire", "CofferFiles",
        "CLinux",
        "Glibc", "Synchronization", "ArgumentParser",
      ]
    ),
    ("Sources/CofferConsole", ["AppContainers", "CofferFiles", "CLinux", "Glibc"]),
    (
      "Sources/DefaultsCommand",
      [
        "CofferConsole", "CofferPropertyLists", "CofferPreferences", "LeakDetection", "AppContainers", "CofferFiles", "CLinux",
        "Glibc", "Synchronization",
      ]
    ),
    (
      "Sources/CofferCommand",
      [
        "VaultCore", "Passphrases", "CofferStorage", "CofferWire", "Coffer", "CofferRequests", "Pinentry", "AppContainers",
        "CofferAudit",
        "CofferApps",
        "CofferPropertyLists",
        "LeakDetection", "CofferFiles", "CLinux", "CofferConsole", "DefaultsCommand",
        "Glibc", "Synchronization", "ArgumentParser",
      ]
    ),
  ]

  @Test(arguments: allowed.map(\.folder)) func importsPointDown(folder: String) throws {
    let allowed = try #require(Self.allowed.first { $0.folder == folder }).imports
    let files = SourceFile.all(in: folder)
    #expect(!files.isEmpty)
    for file in files {
      #expect(file.imports.isSubset(of: allowed), "\(file.path) imports \(file.imports.subtracting(allowed).sorted())")
    }
  }

  @Test func everyModuleHasARule() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: SourceFile.root.appending(path: "Sources").path)
      .filter { !SourceFile.all(in: "Sources/\($0)").isEmpty }
    #expect(Set(folders.map { "Sources/\($0)" }).isSubset(of: Set(Self.allowed.map(\.folder))))
  }

  /// libsodium and the kernel's memory calls are reached from two folders alone.
  @Test func keysMeetCInTwoFolders() {
    for file in SourceFile.all(in: "Vault") where !file.path.hasPrefix("Vault/Memory/") && !file.path.hasPrefix("Vault/Sodium/") {
      #expect(file.imports.isDisjoint(with: ["CSodium", "CLinux", "Glibc"]), "\(file.path)")
    }
    for folder in ["Sources/CofferStorage", "Sources/CofferCommand", "Sources/CofferTesting"] {
      for file in SourceFile.all(in: folder) { #expect(!file.imports.contains("CSodium"), "\(file.path)") }
    }
  }

  /// Private interfaces may change with the compiler, and with them whether a vault opens.
  @Test func nothingUsesPrivateInterfacesOfOtherModules() {
    for folder in ["Vault", "Sources"] {
      for file in SourceFile.all(in: folder) { #expect(!file.code.contains { $0.contains("@_spi") }, "\(file.path)") }
    }
  }

  @Test func unsafeCodeOfTheCoreIsInTwoFolders() {
    for file in SourceFile.all(in: "Vault") where !file.path.hasPrefix("Vault/Memory/") && !file.path.hasPrefix("Vault/Sodium/") {
      let uses = file.code.filter { $0.range(of: #"\bunsafe\b"#, options: .regularExpression) != nil }
      #expect(uses.isEmpty, "\(file.path): \(uses)")
    }
  }
}
