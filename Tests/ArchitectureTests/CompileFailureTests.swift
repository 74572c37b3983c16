import Foundation
import Testing

/// Uses of a secret that the compiler must refuse. Each case is compiled twice: with the line, which must fail with the given
/// reason, and without it, which must succeed.
@Suite struct CompileFailureTests {
  static let cases: [(line: String, reason: String)] = [
    ("print(secret)", "noncopyable|Copyable"),
    ("debugPrint(secret)", "noncopyable|Copyable"),
    ("dump(secret)", "noncopyable|Copyable"),
    ("_ = \"\\(secret)\"", "noncopyable|Copyable"),
    ("_ = String(describing: secret)", "noncopyable|Copyable"),
    ("_ = String(reflecting: secret)", "noncopyable|Copyable"),
    ("_ = [secret]", "noncopyable|Copyable"),
    ("_ = [1: secret]", "noncopyable|Copyable"),
    ("let any: Any = secret; _ = any", "noncopyable|Copyable"),
    ("_ = secret.hashValue", "no member 'hashValue'"),
    ("let copy = secret; _ = copy.count; _ = secret.count", "used after consume|consumed more than once"),
    ("let encodable: any Encodable = secret; _ = encodable", "conform|Copyable"),
    ("_ = secret.withBytes { (bytes: RawSpan) -> RawSpan in bytes }", "lifetime|Escapable"),
  ]

  static func compile(_ body: String) throws -> (succeeded: Bool, output: String) {
    try compile(
      program: """
        import SecretMemory
        func use(_ secret: consuming Secret) {
          \(body)
        }
        """)
  }

  static func compile(program: String) throws -> (succeeded: Bool, output: String) {
    let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let file = directory.appending(path: "main.swift")
    try program.write(to: file, atomically: true, encoding: .utf8)
    // The modules of the same build as this test.
    let products =
      Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent()
      ?? SourceFile.root.appending(path: ".build/debug")
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "swiftc", "-swift-version", "6", "-emit-module", "-emit-sil", "-o", directory.appending(path: "out").path,
      "-I", products.appending(path: "Modules").path,
      "-Xcc", "-fmodule-map-file=\(SourceFile.root.path)/Sources/CSodium/module.modulemap",
      "-Xcc", "-fmodule-map-file=\(SourceFile.root.path)/Sources/CLinux/module.modulemap",
      file.path,
    ]
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus == 0, output)
  }

  @Test func harmlessUseCompiles() throws {
    let result = try Self.compile("_ = secret.count; secret.withBytes { _ = $0.byteCount }")
    #expect(result.succeeded, "\(result.output)")
  }

  @Test(arguments: cases.indices) func misuseDoesNot(index: Int) throws {
    let result = try Self.compile(Self.cases[index].line)
    #expect(!result.succeeded, "\(Self.cases[index].line) compiled")
    #expect(
      result.output.range(of: Self.cases[index].reason, options: .regularExpression) != nil,
      "\(Self.cases[index].line): \(result.output)")
  }
}
