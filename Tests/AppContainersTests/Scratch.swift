import AppContainers
import CofferFiles
import Foundation
import Testing

/// A directory for one test, with a container in it; gone with the test.
final class Scratch: Sendable {
  let path: String
  let data: DataDirectory
  let app: FileName
  let container: AppContainer

  init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "coffer-\(UUID().uuidString)").path
    data = try DataDirectory(at: path + "/data")
    app = try FileName("team.com.example.editor")
    container = try data.makeContainer(app)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// A file for a test to write or read, outside the container.
  func outside(_ name: String, _ text: String? = nil) throws -> String {
    if let text { try text.write(toFile: "\(path)/\(name)", atomically: false, encoding: .utf8) }
    return "\(path)/\(name)"
  }

  func inside(_ path: String) -> String { container.directory.path + "/" + path }

  func write(_ path: String, _ text: String = "x") throws {
    let file = inside(path)
    try FileManager.default.createDirectory(
      atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try text.write(toFile: file, atomically: false, encoding: .utf8)
  }

  func text(_ path: String) -> String? { try? String(contentsOfFile: inside(path), encoding: .utf8) }

  func exists(_ path: String) -> Bool { (try? FileManager.default.attributesOfItem(atPath: path)) != nil }

  func mode(_ path: String) throws -> Int {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  func open(_ path: String) throws -> OpenFile {
    let url = URL(filePath: path)
    let directory = try #require(try OpenDirectory.root(url.deletingLastPathComponent().path, isMade: false))
    return try #require(try directory.file(FileName(url.lastPathComponent)))
  }

  func make(_ path: String) throws -> OpenFile {
    let url = URL(filePath: path)
    let directory = try #require(try OpenDirectory.root(url.deletingLastPathComponent().path, isMade: true))
    return try directory.makeFile(FileName(url.lastPathComponent))
  }

  func path(_ text: String) throws -> RelativePath { try RelativePath(text) }

  /// The code of a container error; nil if none was thrown.
  static func code(_ body: () throws -> Void) -> FileError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? FileError)?.code ?? .io
    }
  }

  @discardableResult static func run(_ program: String, _ arguments: [String], in directory: String? = nil) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    if let directory { process.currentDirectoryURL = URL(filePath: directory) }
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(program) \(arguments)")
    return String(decoding: data, as: UTF8.self)
  }
}
