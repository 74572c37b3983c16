// swift-tools-version: 6.3
import PackageDescription

let package = Package(
  name: "coffer",
  products: [
    .executable(name: "coffer", targets: ["CofferCommand"]),
    .executable(name: "cofferd", targets: ["cofferd"]),
    .executable(name: "coffer-logind", targets: ["coffer-logind"]),
    .executable(name: "coffer-strength", targets: ["coffer-strength"]),
    .executable(name: "coffer-ssh-agent", targets: ["coffer-ssh-agent"]),
    .executable(name: "coffer-secrets", targets: ["coffer-secrets"]),
    .executable(name: "coffer-sync", targets: ["coffer-sync"]),
    .library(name: "VaultCore", targets: ["SecretMemory", "VaultCore", "AccessRights"]),
    .library(name: "Passphrases", targets: ["Passphrases"]),
    .library(name: "CofferStorage", targets: ["CofferStorage"]),
    .library(name: "Coffer", targets: ["Coffer"]),
    .library(name: "CofferPropertyLists", targets: ["CofferPropertyLists"]),
    .library(name: "CofferPreferences", targets: ["CofferPreferences"]),
    .library(name: "PreferenceStore", targets: ["PreferenceStore"]),
    .library(name: "PreferenceStoreCombine", targets: ["PreferenceStoreCombine"]),
    .library(name: "CofferWidgets", targets: ["CofferWidgets"]),
    .library(name: "CofferTesting", targets: ["CofferTesting"]),
  ],
  traits: [
    .trait(name: "Combine", description: "The library PreferenceStoreCombine: settings in objects that OpenCombine observes.")
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
  ],
  targets: [
    // C libraries
    .systemLibrary(name: "CSodium", path: "Sources/CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(name: "CSQLite", path: "Sources/CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CUtf8proc", path: "Sources/CUtf8proc", providers: [.apt(["libutf8proc-dev"])]),
    .systemLibrary(name: "CNettle", path: "Sources/CNettle", providers: [.apt(["nettle-dev"])]),
    .systemLibrary(name: "CArgon2", path: "Sources/CArgon2", providers: [.apt(["libargon2-dev"])]),
    .systemLibrary(name: "CLinux", path: "Sources/CLinux"),
    .systemLibrary(name: "CZxcvbn", path: "Sources/CZxcvbn", providers: [.apt(["libzxcvbn-dev"])]),
    .systemLibrary(name: "CSystemd", path: "Sources/CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
    .systemLibrary(name: "CGcrypt", path: "Sources/CGcrypt", pkgConfig: "libgcrypt", providers: [.apt(["libgcrypt20-dev"])]),
    .systemLibrary(
      name: "CCurl", path: "Sources/CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    // Trusted: keys, seals, format
    .target(name: "SecretMemory", dependencies: ["CSodium", "CLinux"], path: "Vault/SecretMemory", exclude: ["README.md"]),
    .target(name: "VaultCore", dependencies: ["SecretMemory", "CSodium"], path: "Vault/VaultCore", exclude: ["README.md"]),
    .target(
      name: "AccessRights", dependencies: ["VaultCore", "SecretMemory"], path: "Vault/AccessRights", exclude: ["README.md"]),
    .target(name: "VaultUpkeep", dependencies: ["VaultCore", "SecretMemory"], path: "Vault/VaultUpkeep", exclude: ["README.md"]),
    .target(
      name: "PublicKeyBoxes", dependencies: ["VaultCore", "SecretMemory", "CSodium"], path: "Vault/PublicKeyBoxes",
      exclude: ["README.md"]),
    .target(name: "Passphrases", dependencies: ["VaultCore", "SecretMemory", "CUtf8proc"]),
    // Files
    .target(name: "CofferFiles", dependencies: ["CLinux"]),
    .target(name: "AppContainers", dependencies: ["CofferFiles", "CLinux"]),
    .target(name: "TextEncodings"),
    .target(name: "CofferPropertyLists", dependencies: ["TextEncodings"]),
    .target(name: "CofferPreferences", dependencies: ["CofferPropertyLists", "AppContainers", "CofferFiles", "CLinux"]),
    // Settings that follow the person, on this machine
    .target(
      name: "SyncedSettings", dependencies: ["CofferPreferences", "CofferPropertyLists", "AppContainers", "CofferFiles"]),
    .target(
      name: "CofferStorage",
      dependencies: ["VaultCore", "SecretMemory", "Passphrases", "AppContainers", "CofferFiles", "CSQLite", "CLinux"]),
    .target(name: "CofferLifecycle", dependencies: ["CofferStorage", "VaultUpkeep", "VaultCore", "SecretMemory", "CofferFiles"]),
    // Beside the service
    .target(name: "LeakDetection", dependencies: ["CofferPropertyLists"]),
    // Secrets for other programs: their variables, files and output
    .target(name: "ProgramSecrets", dependencies: ["SecretMemory", "CofferFiles", "CLinux"]),
    .target(name: "CredentialProtocols", dependencies: ["ProgramSecrets", "VaultCore", "SecretMemory"]),
    .target(name: "SSHAgentProtocol", dependencies: ["SecretMemory", "TextEncodings"]),
    .target(
      name: "OpenSSHAgent", dependencies: ["SSHAgentProtocol", "VaultCore", "SecretMemory", "CofferFiles", "CLinux"]),
    .target(
      name: "CofferApps",
      dependencies: [
        "AccessRights", "VaultUpkeep", "VaultCore", "SecretMemory", "AppContainers", "CofferFiles", "CofferPropertyLists",
      ]),
    .target(name: "CofferAudit", dependencies: ["VaultCore", "SecretMemory", "AppContainers", "CofferFiles", "CLinux"]),
    // The log that devices will share: no files, sockets or clocks
    .target(name: "CofferSync", dependencies: ["PublicKeyBoxes", "VaultCore", "SecretMemory"]),
    .target(name: "SyncEngines", dependencies: ["CofferSync", "VaultCore", "CofferFiles", "CLinux"]),
    // Only coffer-sync has libcurl
    .target(
      name: "EtcdEngine", dependencies: ["SyncEngines", "CofferSync", "VaultCore", "TextEncodings", "CofferFiles", "CCurl"]),
    .target(name: "Pinentry", dependencies: ["VaultCore", "SecretMemory", "CofferFiles", "CLinux"]),
    // Service
    .target(
      name: "CofferRequests",
      dependencies: ["AccessRights", "VaultCore", "VaultUpkeep", "SecretMemory", "CofferStorage", "CofferLifecycle"]),
    .target(
      name: "CofferWire",
      dependencies: [
        "AccessRights", "VaultCore", "VaultUpkeep", "SecretMemory", "CofferStorage", "CofferLifecycle", "CofferRequests",
        "CofferFiles", "CLinux",
      ]),
    .target(name: "UnitCredentials", dependencies: ["CofferRequests", "VaultCore", "CofferFiles"]),
    .target(
      name: "CofferAgent",
      dependencies: [
        "UnitCredentials", "AccessRights", "VaultUpkeep", "VaultCore", "SecretMemory", "CofferStorage", "CofferLifecycle",
        "AppContainers",
        "CofferApps", "CofferAudit",
        "CofferWire", "CofferRequests", "Pinentry",
        "CofferFiles", "CLinux",
      ]),
    // Clients
    .target(
      name: "Coffer",
      dependencies: [
        "AccessRights", "VaultCore", "VaultUpkeep", "SecretMemory", "CofferStorage", "AppContainers", "CofferApps", "CofferAudit",
        "CofferLifecycle", "CofferRequests", "Pinentry", "CofferWire",
        "CofferFiles", "CLinux",
      ]),
    // The items of a vault in a space
    .target(
      name: "VaultSync",
      dependencies: [
        "CofferSync", "SyncedSettings", "CofferPreferences", "CofferPropertyLists", "Coffer", "CofferLifecycle",
        "CofferRequests", "VaultCore", "SecretMemory", "CofferFiles",
      ]),
    .target(
      name: "PreferenceStore",
      dependencies: [
        "SyncedSettings", "LeakDetection", "CofferPropertyLists", "CofferPreferences", "AppContainers", "CofferFiles",
        .product(name: "Logging", package: "swift-log"),
      ]),
    // Empty without the trait, so that OpenCombine is fetched only for packages that ask for it.
    .target(
      name: "PreferenceStoreCombine",
      dependencies: [
        "CofferPreferences", "PreferenceStore",
        .product(name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["Combine"])),
      ]),
    .target(
      name: "CofferWidgets",
      dependencies: ["AppContainers", "CofferFiles", .product(name: "Logging", package: "swift-log")]),
    .target(name: "CofferTesting", dependencies: ["VaultCore", "SecretMemory"]),
    // The Secret Service of other desktops
    .target(name: "MessageBus", dependencies: ["SecretMemory", "CofferFiles", "CLinux", "CSystemd"]),
    .target(
      name: "SecretService",
      dependencies: [
        "MessageBus", "Coffer", "CofferRequests", "CofferWire", "Pinentry", "VaultCore", "SecretMemory", "CofferFiles", "CLinux",
        "CGcrypt",
      ]),
    .target(name: "KeyedHashes", dependencies: ["SecretMemory", "CNettle", "CArgon2"]),
    .target(name: "CWords"),
    .target(name: "GeneratedSecrets", dependencies: ["SecretMemory", "CWords"]),
    .target(name: "OneTimeCodes", dependencies: ["SecretMemory", "KeyedHashes"]),
    // Files of other programs in which secrets lie
    .target(
      name: "ForeignFormats",
      dependencies: ["CredentialProtocols", "ProgramSecrets", "KeyedHashes", "VaultCore", "SecretMemory", "TextEncodings"]),
    // Programs
    .executableTarget(
      name: "cofferd",
      dependencies: [
        "CofferAgent", "UnitCredentials", "AppContainers", "CofferAudit", "Pinentry", "CofferStorage", "VaultCore",
        "SecretMemory", "CofferWire",
        "CofferRequests", "CofferFiles",
        "CLinux", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ], path: "Sources/CofferDaemon"),
    .executableTarget(
      name: "coffer-logind", dependencies: ["Coffer", "CofferFiles", "CLinux", "CSystemd"], path: "Sources/CofferLogind"),
    .executableTarget(
      name: "coffer-strength", dependencies: ["CZxcvbn", "CofferFiles"], path: "Sources/CofferStrength"),
    .executableTarget(
      name: "coffer-ssh-agent",
      dependencies: [
        "Coffer", "CofferRequests", "CofferStorage", "OpenSSHAgent", "SSHAgentProtocol", "VaultCore", "SecretMemory",
        "CofferFiles",
        "CLinux",
      ], path: "Sources/CofferSSHAgent"),
    .executableTarget(
      name: "coffer-secrets", dependencies: ["SecretService", "MessageBus", "Coffer", "CofferFiles"],
      path: "Sources/CofferSecrets"),
    .target(name: "CofferConsole", dependencies: ["AppContainers", "CofferFiles", "CLinux"]),
    .target(
      name: "Explanations",
      dependencies: [
        "CofferConsole", "AccessRights", "VaultCore", "VaultUpkeep", "SecretMemory", "CofferStorage", "CofferLifecycle",
        "CofferRequests", "CofferApps", "Coffer", "CofferFiles", "CofferPreferences", "CofferPropertyLists",
      ]),
    .target(
      name: "DefaultsCommand",
      dependencies: [
        "CofferConsole", "CofferPropertyLists", "CofferPreferences", "LeakDetection", "AppContainers", "CofferFiles", "CLinux",
        "TextEncodings", "Explanations",
      ]),
    .executableTarget(
      name: "coffer-sync",
      dependencies: [
        "VaultSync", "SyncedSettings", "CofferPreferences", "CofferPropertyLists", "EtcdEngine", "SyncEngines", "CofferSync",
        "Explanations", "CofferConsole", "Coffer", "CofferFiles", "CofferApps", "DefaultsCommand",
        "CofferStorage", "AppContainers", "VaultCore", "SecretMemory", "CLinux",
        "CWords", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ], path: "Sources/CofferSyncCommand"),
    .executableTarget(
      name: "CofferCommand",
      dependencies: [
        "Explanations", "AccessRights", "VaultCore", "VaultUpkeep", "SecretMemory", "Passphrases", "CofferStorage",
        "CofferLifecycle",
        "CofferWire", "Coffer", "CofferRequests", "UnitCredentials", "Pinentry", "AppContainers",
        "CofferAudit", "CofferApps", "CofferPropertyLists", "LeakDetection", "CofferFiles", "CLinux", "CofferConsole",
        "DefaultsCommand", "ProgramSecrets", "KeyedHashes", "GeneratedSecrets", "OneTimeCodes", "CredentialProtocols",
        "ForeignFormats", "OpenSSHAgent",
        "SSHAgentProtocol",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    // What several tests use
    .target(name: "Waiting", path: "Tests/Support/Waiting"),
    .target(name: "ChildWait", path: "Tests/Support/ChildWait"),
    .target(name: "Children", dependencies: ["CofferFiles"], path: "Tests/Support/Children"),
    .target(name: "TemporaryHome", path: "Tests/Support/TemporaryHome"),
    .target(name: "SystemBench", dependencies: ["CofferFiles", "CLinux"], path: "Tests/Support/SystemBench"),
    // Tests, and the programs that they start
    .testTarget(name: "ArchitectureTests", dependencies: ["ChildWait", "Children", "SecretMemory", "PreferenceStore"]),
    .testTarget(
      name: "VaultCoreTests",
      dependencies: ["AccessRights", "VaultCore", "VaultUpkeep", "SecretMemory", "Passphrases", "CofferTesting"]),
    .executableTarget(
      name: "StorageProbe", dependencies: ["CofferStorage", "VaultCore", "SecretMemory"], path: "Tests/Support/StorageProbe"),
    .testTarget(
      name: "StorageTests",
      dependencies: [
        "Children", "CofferStorage", "CofferFiles", "StorageProbe", "VaultCore", "SecretMemory", "CSQLite", "Waiting",
      ]),
    .executableTarget(
      name: "VaultProbe", dependencies: ["Passphrases", "CofferStorage", "VaultCore", "SecretMemory", "CofferTesting"],
      path: "Tests/Support/VaultProbe"),
    .testTarget(
      name: "VaultFileTests",
      dependencies: [
        "Passphrases", "CofferStorage", "AccessRights", "VaultCore", "VaultUpkeep", "SecretMemory", "CofferTesting", "VaultProbe",
      ]),
    .testTarget(
      name: "LifecycleTests",
      dependencies: [
        "Children", "CofferLifecycle", "CofferStorage", "CofferFiles", "VaultUpkeep", "VaultCore", "SecretMemory",
        "CofferTesting", "VaultProbe",
      ]),
    .executableTarget(name: "NaiveProbe", path: "Tests/Support/NaiveProbe"),
    .executableTarget(name: "MemoryScanner", path: "Tests/Support/MemoryScanner", linkerSettings: [.linkedLibrary("util")]),
    .testTarget(
      name: "MemoryTests",
      dependencies: [
        "CofferCommand", "cofferd", "coffer-ssh-agent", "coffer-secrets", "VaultProbe", "NaiveProbe", "MemoryScanner",
      ],
      exclude: ["keys.py"]),
    .testTarget(name: "AppContainersTests", dependencies: ["AppContainers", "CofferFiles", "Waiting"]),
    .testTarget(name: "PropertyListTests", dependencies: ["CofferPropertyLists", "CofferTesting"]),
    .executableTarget(
      name: "PreferenceWriter", dependencies: ["CofferPreferences", "CofferPropertyLists"], path: "Tests/Support/PreferenceWriter"
    ),
    .executableTarget(name: "FoundationWriter", path: "Tests/Support/FoundationWriter"),
    .testTarget(
      name: "PreferencesTests", dependencies: ["CofferPreferences", "CofferPropertyLists", "CofferFiles", "CofferTesting"]),
    .testTarget(
      name: "PreferenceSafetyTests",
      dependencies: ["Children", "CofferPreferences", "CofferPropertyLists", "PreferenceWriter", "FoundationWriter"]),
    .testTarget(
      name: "SyncedSettingsTests",
      dependencies: [
        "SyncedSettings", "CofferPreferences", "CofferPropertyLists", "AppContainers", "CofferFiles", "VaultCore",
        "CofferTesting",
        "Waiting",
      ]),
    .testTarget(name: "SearchListTests", dependencies: ["CofferPreferences", "CofferPropertyLists"]),
    .testTarget(
      name: "LeakDetectionTests", dependencies: ["LeakDetection", "CofferPropertyLists", "CofferTesting"], exclude: ["Corpus"]),
    .executableTarget(name: "PreferenceProbe", dependencies: ["PreferenceStore"], path: "Tests/Support/PreferenceProbe"),
    .testTarget(
      name: "PreferenceStoreTests",
      dependencies: [
        "PreferenceStore", "SyncedSettings", "CofferPreferences", "CofferPropertyLists", "PreferenceProbe", "FoundationWriter",
        "TemporaryHome", "Waiting",
      ]),
    .testTarget(
      name: "PreferenceStoreCombineTests", dependencies: ["PreferenceStoreCombine", "PreferenceStore", "CofferPreferences"]),
    .testTarget(
      name: "ArticleTests", dependencies: ["PreferenceStoreCombine", "PreferenceStore", "CofferPreferences", "TemporaryHome"],
      // Code as it was written for SwiftUI, when there was no other mode.
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .executableTarget(name: "WidgetProbe", dependencies: ["CofferWidgets"], path: "Tests/Support/WidgetProbe"),
    .testTarget(name: "WidgetsTests", dependencies: ["CofferWidgets", "AppContainers", "CofferFiles", "WidgetProbe", "Waiting"]),
    .testTarget(
      name: "AppsTests",
      dependencies: [
        "CofferApps", "AppContainers", "CofferFiles", "CofferPropertyLists", "AccessRights", "VaultCore", "SecretMemory",
        "CofferTesting",
      ]),
    .executableTarget(name: "AuditWriter", dependencies: ["CofferAudit"], path: "Tests/Support/AuditWriter"),
    .target(
      name: "SyncSimulation", dependencies: ["CofferSync", "VaultCore", "SecretMemory", "CofferTesting"],
      path: "Tests/Support/SyncSimulation"),
    .target(name: "CSodiumMemo", dependencies: ["CSodium"], path: "Tests/Support/CSodiumMemo"),
    .executableTarget(
      name: "SyncSchedules", dependencies: ["SyncSimulation", "CSodiumMemo"], path: "Tests/Support/SyncSchedules"),
    .testTarget(
      name: "SyncTests",
      dependencies: [
        "Children", "SyncSchedules", "SyncSimulation", "CofferSync", "PublicKeyBoxes", "VaultCore", "SecretMemory",
        "CofferTesting",
      ]),
    .testTarget(
      name: "VaultSyncTests",
      dependencies: [
        "VaultSync", "SyncedSettings", "CofferPreferences", "CofferPropertyLists", "AppContainers", "CofferSync", "Coffer",
        "CofferRequests", "CofferFiles", "VaultCore", "VaultUpkeep", "SecretMemory", "SyncSimulation", "CofferTesting",
      ]),
    .executableTarget(
      name: "EngineProbe", dependencies: ["SyncEngines", "CofferSync", "VaultCore", "CofferFiles"],
      path: "Tests/Support/EngineProbe"),
    .testTarget(
      name: "SyncEngineTests",
      dependencies: [
        "Children", "EngineProbe", "SyncEngines", "CofferSync", "CofferFiles", "VaultCore", "SecretMemory", "CofferTesting",
      ]),
    .testTarget(
      name: "EtcdEngineTests",
      dependencies: [
        "Children", "SystemBench", "Waiting", "EtcdEngine", "SyncEngines", "CofferSync", "CofferFiles", "VaultCore",
      ]),
    .testTarget(
      name: "AuditLogTests", dependencies: ["CofferAudit", "AppContainers", "AuditWriter", "CofferFiles"]),
    .target(name: "FakePinentry", dependencies: ["Pinentry", "CofferFiles"], path: "Tests/Support/FakePinentry"),
    .testTarget(
      name: "PinentryTests",
      dependencies: ["FakePinentry", "Pinentry", "CofferFiles", "VaultCore", "SecretMemory", "CofferTesting", "Waiting"]),
    .testTarget(
      name: "WireTests",
      dependencies: [
        "CofferWire", "CofferRequests", "CofferLifecycle", "CofferStorage", "AccessRights", "VaultCore", "VaultUpkeep",
        "SecretMemory",
        "Passphrases", "CofferFiles", "CofferTesting",
      ]),
    .executableTarget(
      name: "AgentProbe", dependencies: ["CofferWire", "CofferRequests", "VaultCore", "SecretMemory", "CofferFiles", "CLinux"],
      path: "Tests/Support/AgentProbe"),
    .testTarget(
      name: "AgentTests",
      dependencies: [
        "UnitCredentials",
        "CofferAgent", "AgentProbe", "SystemBench", "cofferd", "coffer-logind", "CofferCommand", "CofferRequests", "Pinentry",
        "CLinux", "Coffer", "CofferApps", "CofferAudit", "FakePinentry", "AppContainers", "Passphrases", "CofferStorage",
        "CofferLifecycle", "CofferFiles", "CofferWire", "AccessRights", "VaultCore", "VaultUpkeep", "SecretMemory",
        "CofferTesting", "Waiting",
      ],
      exclude: ["Systemd"]),
    .testTarget(
      name: "CofferTests",
      dependencies: [
        "CofferAgent", "AgentProbe", "SystemBench", "cofferd", "CofferCommand", "CofferApps", "CLinux", "Coffer",
        "FakePinentry", "CofferRequests", "Passphrases", "Pinentry", "CofferStorage", "CofferFiles", "AccessRights", "VaultCore",
        "VaultUpkeep", "SecretMemory", "CofferWire",
        "CofferTesting", "Waiting",
      ]),
    .testTarget(
      name: "SSHAgentTests",
      dependencies: ["OpenSSHAgent", "SSHAgentProtocol", "coffer-ssh-agent", "SecretMemory", "CofferFiles"]),
    .testTarget(name: "GeneratedSecretsTests", dependencies: ["GeneratedSecrets", "SecretMemory"]),
    .testTarget(name: "OneTimeCodesTests", dependencies: ["OneTimeCodes", "KeyedHashes", "SecretMemory"]),
    .testTarget(name: "ProgramSecretsTests", dependencies: ["ProgramSecrets", "SecretMemory", "CofferTesting"]),
    .testTarget(
      name: "CLITests",
      dependencies: [
        "Waiting",
        "Explanations", "SystemBench", "CLinux", "MessageBus", "SecretService", "coffer-secrets", "coffer-sync", "VaultSync",
        "CofferSync", "CofferCommand",
        "CofferConsole", "DefaultsCommand",
        "PreferenceProbe",
        "CofferFiles",
        "CofferPropertyLists",
        "CofferPreferences", "CofferRequests", "CofferApps", "CofferStorage", "CofferLifecycle", "VaultCore", "SecretMemory",
        "ProgramSecrets", "KeyedHashes", "CredentialProtocols", "ForeignFormats", "Coffer", "CofferTesting",
      ],
      exclude: ["README.md", "Transcripts"]),
    .testTarget(
      name: "ForeignFormatsTests",
      dependencies: ["ForeignFormats", "ProgramSecrets", "VaultCore", "SecretMemory", "CofferTesting"]),
    .testTarget(
      name: "DocumentationTests",
      dependencies: [
        "Coffer", "CofferCommand", "coffer-sync", "CofferConsole", "DefaultsCommand", "CofferTesting", "PreferenceStore",
        "PreferenceStoreCombine", "CofferStorage",
        "TemporaryHome", "AccessRights", "VaultCore", "SecretMemory",
      ],
      exclude: ["servers"]),
    .testTarget(
      name: "FuzzTests",
      dependencies: [
        "AccessRights", "VaultCore", "SecretMemory", "Passphrases", "CofferSync", "CofferWire", "CofferRequests",
        "CofferPropertyLists", "CofferPreferences", "CofferCommand", "CofferConsole", "ForeignFormats", "ProgramSecrets",
        "SSHAgentProtocol",
        "CofferTesting",
      ],
      path: "Fuzz",
      exclude: ["Corpus", "Driver", "run", "seed.py"], sources: ["Targets", "Tests"]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system && target.name != "ArticleTests" {
  target.swiftSettings =
    (target.swiftSettings ?? []) + [
      .strictMemorySafety(),
      .treatAllWarnings(as: .error),
      .enableUpcomingFeature("ExistentialAny"),
      .enableUpcomingFeature("InternalImportsByDefault"),
      .enableUpcomingFeature("MemberImportVisibility"),
      .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}

// `COFFER_ONLY=VaultCoreTests,…` leaves the other targets out. The sanitizers need a build of their own of what they test.
if let names = Context.environment["COFFER_ONLY"] {
  var kept: Set<String> = []
  var open = names.split(separator: ",").map(String.init)
  while let name = open.popLast() {
    guard kept.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else { continue }
    for case .byNameItem(let name, _) in target.dependencies { open.append(name) }
  }
  package.targets.removeAll { !kept.contains($0.name) }
  package.products.removeAll {
    let targets = ($0 as? Product.Executable)?.targets ?? ($0 as? Product.Library)?.targets ?? []
    return !kept.isSuperset(of: targets)
  }
}
