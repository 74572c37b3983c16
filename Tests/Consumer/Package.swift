// swift-tools-version: 6.0
import PackageDescription

// A package as its author writes it: it depends on Coffer, and sets nothing else. The README shows Player and Token.
let package = Package(
  name: "consumer",
  dependencies: [.package(name: "coffer", path: "../..")],
  targets: [
    .executableTarget(name: "Settings", dependencies: [.product(name: "PreferenceStore", package: "coffer")]),
    .executableTarget(name: "Player", dependencies: [.product(name: "PreferenceStore", package: "coffer")]),
    .executableTarget(name: "Token", dependencies: [.product(name: "Coffer", package: "coffer")]),
  ]
)
