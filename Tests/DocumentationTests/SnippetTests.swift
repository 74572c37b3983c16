import Foundation
import Testing

/// Swift code of the documents compiles with exactly the imports that it shows, in a file that has nothing else.
@Suite struct SnippetTests {
  /// The files that a reader makes of a document: each goes from a block that begins with imports to the next such block. Without the
  /// trait Combine, files that import the library of this trait are left out.
  static func files(of document: Document) -> [(line: Int, text: String)] {
    var files: [(line: Int, text: String)] = []
    for block in Block.all(in: document) where block.kind == Block.Kind.library.rawValue {
      let text = block.lines.joined(separator: "\n") + "\n"
      if block.lines.first?.hasPrefix("import ") == true || files.isEmpty {
        files.append((block.line, text))
      } else {
        files[files.count - 1].text += "\n" + text
      }
    }
    #if !Combine
    files.removeAll { $0.text.contains("import PreferenceStoreCombine") }
    #endif
    return files
  }

  @Test(arguments: Document.texts) func codeCompilesWithTheImportsThatItShows(document: Document) throws {
    for file in Self.files(of: document) {
      #expect(file.text.hasPrefix("import "), "\(document):\(file.line): the first code of a document shows its imports")
      let errors = try Self.errors(in: file.text, isProgram: false)
      #expect(errors.isEmpty, "\(document):\(file.line): \(errors)")
    }
  }

  /// The promise of user-defaults.md for code that was written for Foundation's class: each member works, with one more line.
  @Test(arguments: ["5", "6"]) func oneLineAndNothingElse(mode: String) throws {
    #expect(
      Document("docs/user-defaults.md").text.contains(
        "needs one line, `import class PreferenceStore.UserDefaults` beside `import Foundation`"))
    let program = Document("Examples/Settings/main.swift").text
    let line = "import class PreferenceStore.UserDefaults\n"
    #expect(program.contains(line))
    let errors = try Self.errors(in: program, isProgram: true, mode: mode)
    #expect(errors.isEmpty, "\(errors)")
    // The program is one: without the line, too, it compiles, with Foundation's class.
    #expect(try Self.errors(in: program.replacing(line, with: ""), isProgram: true, mode: mode).isEmpty)
  }

  /// The errors of the compiler, with the modules that were built beside this test. Features that the package itself enables are off.
  static func errors(in source: String, isProgram: Bool, mode: String = "6") throws -> String {
    let directory = FileManager.default.temporaryDirectory.appending(path: "coffer-snippet-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let file = directory.appending(path: isProgram ? "main.swift" : "Snippet.swift")
    try source.write(to: file, atomically: true, encoding: .utf8)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    var arguments = ["swiftc", "-typecheck", "-swift-version", mode, "-I", Home.programs.appending(path: "Modules").path]
    // Modules of the examples, which `make examples` builds.
    arguments += ["-I", Document.root.appending(path: ".build-examples/debug/Modules").path]
    arguments += ["-module-cache-path", directory.appending(path: "cache").path]
    if !isProgram { arguments.append("-parse-as-library") }
    // C libraries of the package, which a package that depends on it finds by itself.
    let sources = Document.root.appending(path: "Sources")
    var maps = try FileManager.default.contentsOfDirectory(atPath: sources.path)
      .map { sources.appending(path: "\($0)/module.modulemap").path }.filter(FileManager.default.fileExists)
    #if Combine
    maps.append(Home.programs.appending(path: "COpenCombineHelpers.build/module.modulemap").path)
    #endif
    for map in maps { arguments += ["-Xcc", "-fmodule-map-file=\(map)"] }
    process.arguments = arguments + [file.path]
    let output = Pipe()
    (process.standardOutput, process.standardError) = (output, output)
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return process.terminationStatus == 0 ? "" : "status \(process.terminationStatus): " + String(decoding: text, as: UTF8.self)
  }
}
