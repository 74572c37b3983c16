import Foundation
import Testing

@Suite struct ImportTests {
  /// What each module may import. Everything points down.
  static let allowed: [(folder: String, imports: Set<String>)] = [
    ("Vault", ["CSodium", "CLinux", "Glibc", "Synchronization", "Swift"]),
    ("Sources/Passphrases", ["VaultCore", "CUtf8proc"]),
    ("Sources/SystemCalls", ["CLinux", "Glibc"]),
    ("Sources/AppContainers", ["SystemCalls", "CLinux", "Glibc"]),
    (
      "Sources/Storage",
      ["VaultCore", "Passphrases", "AppContainers", "SystemCalls", "CSQLite", "CLinux", "Glibc", "Synchronization"]
    ),
    ("Sources/Wire", ["VaultCore", "SystemCalls", "Passphrases", "CLinux", "Glibc"]),
    ("Sources/AuditLog", ["VaultCore", "AppContainers", "SystemCalls", "CLinux", "Glibc", "Synchronization"]),
    ("Sources/Pinentry", ["VaultCore", "SystemCalls", "CLinux", "Glibc"]),
    ("Sources/ItemService", ["VaultCore", "Storage", "Wire", "Synchronization"]),
    (
      "Sources/Agent",
      [
        "VaultCore", "Passphrases", "Storage", "AppContainers", "Apps", "AuditLog", "Wire", "ItemService", "Pinentry",
        "SystemCalls", "CLinux", "Glibc", "Synchronization",
      ]
    ),
    (
      "Sources/Coffer",
      [
        "VaultCore", "Storage", "ItemService", "Pinentry", "Wire", "SystemCalls", "CLinux", "AppContainers", "Apps", "AuditLog",
        "Glibc", "Synchronization",
      ]
    ),
    ("Sources/Apps", ["VaultCore", "AppContainers", "PropertyLists"]),
    ("Sources/PropertyLists", []),
    ("Sources/Preferences", ["PropertyLists", "AppContainers", "SystemCalls", "CLinux", "Glibc", "Synchronization"]),
    (
      "Sources/PreferenceStore",
      [
        "LeakDetection", "PropertyLists", "Preferences", "AppContainers", "Foundation", "Observation", "Synchronization",
        "Logging",
      ]
    ),
    ("Sources/PreferenceStoreCombine", ["Preferences", "PreferenceStore", "OpenCombine", "Synchronization"]),
    (
      "Sources/Widgets",
      ["AppContainers", "SystemCalls", "CLinux", "Glibc", "Foundation", "Dispatch", "Synchronization", "Logging"]
    ),
    ("Sources/LeakDetection", ["PropertyLists"]),
    ("Sources/CofferTesting", ["VaultCore"]),
    ("Sources/ProcessHardening", ["CLinux", "Glibc"]),
    ("Sources/CofferLogind", ["Coffer", "SystemCalls", "CLinux", "CSystemd", "Glibc"]),
    (
      "Sources/CofferDaemon",
      [
        "Agent", "AppContainers", "AuditLog", "Pinentry", "Storage", "ProcessHardening", "VaultCore", "Wire", "SystemCalls",
        "CLinux",
        "Glibc", "Synchronization", "ArgumentParser",
      ]
    ),
    (
      "Sources/CofferCLI",
      [
        "VaultCore", "Passphrases", "Storage", "Wire", "Coffer", "ItemService", "Pinentry", "ProcessHardening", "AppContainers",
        "AuditLog",
        "Apps",
        "PropertyLists",
        "Preferences",
        "LeakDetection", "SystemCalls", "CLinux",
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
    for folder in ["Sources/Storage", "Sources/CofferCLI", "Sources/CofferTesting"] {
      for file in SourceFile.all(in: folder) { #expect(!file.imports.contains("CSodium"), "\(file.path)") }
    }
  }

  /// What decides whether a vault opens must not change with the compiler.
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
