import Foundation
import Testing

/// Runs the examples of the documents, in the order in which a reader meets them.
@Suite struct ExampleTests {
  @Test func everyBlockHasAKind() {
    for document in Document.texts + Document.manual {
      for block in Block.all(in: document) {
        #expect(Block.Kind(rawValue: block.kind) != nil, "\(document):\(block.line): \"\(block.kind)\" is no kind of block")
        #expect(!block.lines.isEmpty, "\(document):\(block.line)")
      }
    }
  }

  @Test(arguments: Document.texts + Document.manual) func examplesDoWhatTheyShow(document: Document) throws {
    let home = try Home()
    for block in Block.all(in: document) {
      let place = "\(document):\(block.line)"
      switch Block.Kind(rawValue: block.kind) {
      case .shell: try Self.shell(block, home, place)
      case .session: try Self.session(block, home, place)
      case .network: try Self.session(block, home, place, network: true)
      case .terminal: try Self.terminal(block, home, place)
      case .make: Self.make(block, place)
      case .packages: Self.packages(block, place)
      case .toolchain: Self.toolchain(block, place)
      case .library: Self.library(block, place)
      case .manifest: try Self.manifest(block, home, place)
      case nil: Issue.record("\(place): an unknown kind")
      }
    }
  }

  private static func shell(_ block: Block, _ home: Home, _ place: String) throws {
    let result = try home.run("set -e\n" + block.lines.joined(separator: "\n"))
    #expect(result.status == 0, "\(place): \(result.output)")
  }

  /// Every command ends with 0, unless the next one shows how it ended.
  private static func session(_ block: Block, _ home: Home, _ place: String, network: Bool = false) throws {
    let mark = "@@\(UUID().uuidString)@@"
    var script = ""
    for (command, _) in block.commands {
      script += "\(command)\n__status=$?; printf '%s' \"\(mark)$__status\(mark)\"; (exit $__status)\n"
    }
    let result = try home.run(script, network: network)
    let parts = result.output.components(separatedBy: mark)
    let commands = block.commands
    #expect(!commands.isEmpty && block.lines.first?.hasPrefix("$ ") == true, "\(place)")
    guard parts.count == 2 * commands.count + 1 else {
      Issue.record("\(place): the session broke off: \(result.output)")
      return
    }
    for (index, (command, expected)) in commands.enumerated() {
      var lines = parts[2 * index].components(separatedBy: "\n")
      if lines.last == "" { lines.removeLast() }
      let isShown = index + 1 < commands.count && commands[index + 1].command == "echo $?"
      #expect(isShown || parts[2 * index + 1] == "0", "\(place): \(command) ended with \(parts[2 * index + 1])")
      compare(lines, expected, "\(place): \(command)")
    }
  }

  private static func terminal(_ block: Block, _ home: Home, _ place: String) throws {
    let commands = block.commands
    #expect(!commands.isEmpty && block.lines.first?.hasPrefix("$ ") == true, "\(place)")
    for (command, expected) in commands {
      let result = try home.runAtTerminal(command, expected)
      #expect(result.status == 0, "\(place): \(command) ended with \(result.status)")
      compare(result.lines, expected, "\(place): \(command)")
    }
  }

  private static func compare(_ lines: [String], _ expected: [String], _ place: String) {
    #expect(lines.count == expected.count && zip(lines, expected).allSatisfy { $0.isLine($1) }, "\(place) printed \(lines)")
  }

  private static func make(_ block: Block, _ place: String) {
    let makefile = Document("Makefile")
    for line in block.lines {
      let words = line.split(separator: " ")
      #expect(words.first == "make", "\(place): \(line)")
      for target in words.dropFirst() where !target.contains("=") {
        #expect(makefile.lines.contains { $0.hasPrefix("\(target):") }, "\(place): no target \(target)")
      }
    }
  }

  private static func packages(_ block: Block, _ place: String) {
    let named = Set(Document("Package.swift").text.matches(#"\.apt\(\["([^"]+)"\]\)"#).map { $0[1] })
    for line in block.lines {
      let words = line.split(separator: " ").map(String.init)
      #expect(words.prefix(2) == ["apt-get", "install"] && Set(words.dropFirst(2)) == named, "\(place): \(line)")
    }
  }

  private static func toolchain(_ block: Block, _ place: String) {
    for line in block.lines {
      let words = line.split(separator: " ").map(String.init)
      let folder = zip(words, words.dropFirst()).first { $0.0 == "--package-path" }?.1
      let package = Document((folder.map { "\($0)/" } ?? "") + "Package.swift").text
      #expect(words.first == "swift" && ["build", "test", "format"].contains(words.dropFirst().first), "\(place): \(line)")
      for (option, value) in zip(words, words.dropFirst()) where ["--product", "--filter"].contains(option) {
        #expect(package.contains("name: \"\(value)\""), "\(place): \(value)")
      }
      for path in words where path.first?.isUppercase == true && words.contains("--recursive") {
        #expect(Document.exists(path), "\(place): \(path)")
      }
    }
  }

  /// The package manager takes it, and the targets are those of the package in Examples, which `make examples` builds.
  private static func manifest(_ block: Block, _ home: Home, _ place: String) throws {
    let text = block.lines.joined(separator: "\n")
    let file = home.directory.appending(path: "Package.swift")
    try text.write(to: file, atomically: true, encoding: .utf8)
    let result = try home.run("swift package dump-package", path: ProcessInfo.processInfo.environment["PATH"])
    #expect(result.status == 0, "\(place): \(result.output)")
    let examples = Document("Examples/Package.swift").lines
    for line in block.lines where line.contains("Target(") {
      let target = line.replacing(")]),", with: ")], ")
      #expect(examples.contains { $0.hasPrefix(target) }, "\(place): \(line)")
    }
  }

  private static func library(_ block: Block, _ place: String) {
    let examples = ["Library", "AppStorage", "Keychain", "Guide"].map { "Tests/DocumentationTests/\($0)Example.swift" }
    let programs = ["Widget/LuckyNumberWidget", "App/LuckyNumber"].map { "Examples/LuckyNumber/\($0).swift" }
    let samples = ["Player", "Token"].map { "Examples/\($0)/\($0).swift" }
    let sources = (examples + programs + samples).map { Document($0).text }
    // `SnippetTests` compiles them with the imports that they show.
    let text = block.lines.drop { $0.hasPrefix("import ") || $0.isEmpty }.joined(separator: "\n")
    #expect(sources.contains { $0.contains(text) }, "\(place): differs from the examples beside this file and from the programs")
  }
}
