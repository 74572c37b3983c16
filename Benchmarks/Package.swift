// swift-tools-version: 6.3
import PackageDescription

// A separate package, so that users of the libraries neither fetch nor build it.
let package = Package(
  name: "coffer-benchmarks",
  dependencies: [
    .package(name: "coffer", path: "..")
  ],
  targets: [
    .systemLibrary(name: "CBaseline"),
    .target(
      name: "BenchmarkKit",
      dependencies: [
        "CBaseline", .product(name: "VaultCore", package: "coffer"), .product(name: "CofferStorage", package: "coffer"),
      ]),
    .executableTarget(
      name: "vault-benchmark",
      dependencies: [
        "BenchmarkKit", "CBaseline", .product(name: "VaultCore", package: "coffer"),
        // The package has no product for VaultUpkeep alone.
        .product(name: "CofferStorage", package: "coffer"), .product(name: "Coffer", package: "coffer"),
      ],
      path: "Sources/VaultBenchmark"),
    .executableTarget(
      name: "process-benchmark",
      dependencies: [
        "BenchmarkKit", .product(name: "VaultCore", package: "coffer"), .product(name: "CofferStorage", package: "coffer"),
      ],
      path: "Sources/ProcessBenchmark"),
    .executableTarget(
      name: "agent-client",
      dependencies: [
        "BenchmarkKit", .product(name: "Coffer", package: "coffer"), .product(name: "VaultCore", package: "coffer"),
      ],
      path: "Sources/AgentClient"),
    .executableTarget(
      name: "agent-benchmark",
      dependencies: [
        "BenchmarkKit", .product(name: "VaultCore", package: "coffer"), .product(name: "CofferStorage", package: "coffer"),
      ],
      path: "Sources/AgentBenchmark"),
    .executableTarget(name: "foundation-defaults", path: "Sources/FoundationDefaults"),
    .executableTarget(
      name: "preference-benchmark",
      dependencies: [
        "BenchmarkKit", "CBaseline", .product(name: "PreferenceStore", package: "coffer"),
        .product(name: "CofferPropertyLists", package: "coffer"),
      ],
      path: "Sources/PreferenceBenchmark"),
  ],
  swiftLanguageModes: [.v6]
)
