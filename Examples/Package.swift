// swift-tools-version: 6.0
import PackageDescription

// A package as its author writes it: it depends on Coffer, and sets nothing else. `run` builds it; tests start its programs.
let package = Package(
  name: "examples",
  dependencies: [.package(name: "coffer", path: "..")],
  targets: [
    // The samples of the README
    .executableTarget(name: "Player", dependencies: [.product(name: "PreferenceStore", package: "coffer")], path: "Player"),
    .executableTarget(name: "Token", dependencies: [.product(name: "Coffer", package: "coffer")], path: "Token"),
    // Code that was written for Foundation's UserDefaults
    .executableTarget(name: "Settings", dependencies: [.product(name: "PreferenceStore", package: "coffer")], path: "Settings"),
    // Settings of a program with a screen
    .executableTarget(
      name: "LiveSettings", dependencies: [.product(name: "PreferenceStore", package: "coffer")], path: "LiveSettings"),
    // A credential that several programs of one team share
    .executableTarget(name: "SharedToken", dependencies: [.product(name: "Coffer", package: "coffer")], path: "SharedToken"),
    // An app with a widget and an intent handler
    .target(
      name: "LuckyNumberStore", dependencies: [.product(name: "PreferenceStore", package: "coffer")], path: "LuckyNumber/Store"),
    .executableTarget(
      name: "LuckyNumber", dependencies: ["LuckyNumberStore", .product(name: "CofferWidgets", package: "coffer")],
      path: "LuckyNumber/App"),
    .executableTarget(
      name: "LuckyNumberWidget", dependencies: ["LuckyNumberStore", .product(name: "CofferWidgets", package: "coffer")],
      path: "LuckyNumber/Widget"),
    .executableTarget(
      name: "LuckyNumberIntents", dependencies: ["LuckyNumberStore", .product(name: "CofferWidgets", package: "coffer")],
      path: "LuckyNumber/Intents"),
  ]
)
