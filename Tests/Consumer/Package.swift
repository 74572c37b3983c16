// swift-tools-version: 6.0
import PackageDescription

// A package as its author writes it: it depends on Coffer, and sets nothing else.
let package = Package(
  name: "consumer",
  dependencies: [.package(name: "coffer", path: "../..")],
  targets: [
    .executableTarget(name: "Settings", dependencies: [.product(name: "PreferenceStore", package: "coffer")]),
    .executableTarget(name: "Credentials", dependencies: [.product(name: "Coffer", package: "coffer")]),
  ]
)
