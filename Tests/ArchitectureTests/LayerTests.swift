import Foundation
import Testing

/// Package.swift lists the targets from the bottom to the top and is the only list of what a module may import. These tests compare
/// it with the sources, because SwiftPM also builds an import of a module that is not declared.
@Suite struct LayerTests {
  @Test func targetsDependOnTargetsAbove() throws {
    var seen: Set<String> = []
    for target in try Manifest.read().targets where !target.isTest {
      let own = target.dependencies.subtracting(try Manifest.read().products)
      #expect(own.isSubset(of: seen), "\(target.name) is listed before \(own.subtracting(seen).sorted())")
      seen.insert(target.name)
    }
  }

  @Test func importsAreDeclared() throws {
    let manifest = try Manifest.read()
    let modules = Set(manifest.targets.map(\.name)).union(manifest.products)
    for target in manifest.targets where target.type != "system" {
      let files = target.files
      #expect(!files.isEmpty || target.isInC || !target.isPartOfTheProducts, "\(target.name) has no source files")
      for file in files {
        let undeclared = file.imports.intersection(modules).subtracting(target.dependencies).subtracting([target.name])
        #expect(undeclared.isEmpty, "\(file.path) imports \(undeclared.sorted())")
      }
    }
  }

  @Test func declaredDependenciesAreImported() throws {
    for target in try Manifest.read().targets where target.isPartOfTheProducts && target.type != "system" {
      let imports = target.files.reduce(into: Set<String>()) { $0.formUnion($1.imports) }
      #expect(target.dependencies.isSubset(of: imports), "\(target.name): \(target.dependencies.subtracting(imports).sorted())")
    }
  }

  /// The script calls the compiler for each module.
  @Test func fuzzersHaveAllModulesThatTheyImport() throws {
    let modules = Set(try Manifest.read().targets.filter { $0.type != "system" }.map(\.name))
    let script = try String(contentsOf: SourceFile.root.appending(path: "Fuzz/run"), encoding: .utf8)
    var seen: Set<String> = []
    for words in script.split(separator: "\n").map({ $0.split { " */()".contains($0) }.map(String.init) })
    where words.first == "module" && words.count > 2 {
      // `$(find Vault/VaultCore -name …)`, or `Fuzz/Targets/*.swift`.
      let folders = zip(words, words.dropFirst()).filter { ["Vault", "Sources", "Fuzz"].contains($0.0) }.map { "\($0.0)/\($0.1)" }
      for file in folders.flatMap({ SourceFile.all(in: $0) }) {
        let missing = file.imports.intersection(modules).subtracting(seen)
        #expect(missing.isEmpty, "\(file.path) imports \(missing.sorted())")
      }
      seen.insert(words[1])
    }
    #expect(seen.contains("Fuzz") && seen.count > 20, "\(seen)")
  }

  /// The modules of the system that are used. Modules that only compute make no system calls. Foundation takes milliseconds to start,
  /// so only modules whose interface has its types import it.
  @Test func modulesOfTheSystemAreFew() throws {
    let manifest = try Manifest.read()
    let ours = Set(manifest.targets.map(\.name)).union(manifest.products)
    let withoutSystemCalls: Set = [
      "CofferPropertyLists", "LeakDetection", "CofferApps", "Passphrases", "CofferTesting", "CofferRequests",
      "CofferSync",
    ]
    let withFoundation: Set = ["PreferenceStore", "CofferWidgets"]
    for target in manifest.targets where target.isPartOfTheProducts {
      var allowed: Set = ["Synchronization"]
      if !withoutSystemCalls.contains(target.name) { allowed.insert("Glibc") }
      if withFoundation.contains(target.name) { allowed.formUnion(["Foundation", "Observation", "Dispatch"]) }
      for file in target.files {
        let others = file.imports.subtracting(ours).subtracting(allowed)
        #expect(others.isEmpty, "\(file.path) imports \(others.sorted())")
      }
    }
  }
}

/// Package.swift, as the package manager reads it.
private struct Manifest {
  struct Target {
    let name: String
    let type: String
    let path: String
    let folders: [String]
    let dependencies: Set<String>

    var isTest: Bool { type == "test" || path.hasPrefix("Tests/") }
    var isPartOfTheProducts: Bool { path.hasPrefix("Sources/") || path.hasPrefix("Vault") }
    var isInC: Bool { folders.contains { !SourceFile.all(in: $0, suffix: ".c").isEmpty } }
    var files: [SourceFile] { folders.flatMap { SourceFile.all(in: $0) } }
  }

  let targets: [Target]
  /// The products of other packages, which have the names of their modules.
  let products: Set<String>

  /// Read once: the package manager takes part of a second.
  static func read() throws -> Manifest { try whole.get() }

  private static let whole = Result { try load() }

  private static func load() throws -> Manifest {
    let scratch = FileManager.default.temporaryDirectory.appending(path: "coffer-manifest-\(UUID())")
    defer { try? FileManager.default.removeItem(at: scratch) }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "swift", "package", "--package-path", SourceFile.root.path, "--scratch-path", scratch.path, "dump-package",
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let description = try JSONDecoder().decode(Description.self, from: data)
    var products: Set<String> = []
    let targets = description.targets.map { target in
      for dependency in target.dependencies { if let name = dependency.product { products.insert(name) } }
      let path = target.path ?? (target.type == "test" ? "Tests/" : "Sources/") + target.name
      return Target(
        name: target.name, type: target.type, path: path, folders: target.sources?.map { "\(path)/\($0)" } ?? [path],
        dependencies: Set(target.dependencies.compactMap(\.name)))
    }
    return Manifest(targets: targets, products: products)
  }

  /// The parts of `swift package dump-package` that are compared.
  private struct Description: Decodable {
    struct Target: Decodable {
      let name: String
      let type: String
      let path: String?
      let sources: [String]?
      let dependencies: [Dependency]
    }

    /// An object with one key, whose value is a list that begins with the name.
    struct Dependency: Decodable {
      let name: String?
      let product: String?

      private enum Key: String, CodingKey { case byName, target, product }

      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        product = try Self.name(.product, in: container)
        name = try product ?? Self.name(.byName, in: container) ?? Self.name(.target, in: container)
      }

      private static func name(_ key: Key, in container: KeyedDecodingContainer<Key>) throws -> String? {
        guard container.contains(key) else { return nil }
        var list = try container.nestedUnkeyedContainer(forKey: key)
        return try list.decode(String.self)
      }
    }

    let targets: [Target]
  }
}
