import Foundation
import Glibc

/// An empty home directory, in which the examples of a document run one after the other, with the `coffer` that was built beside
/// this test first in `PATH`.
final class Home {
  /// The text that the person in the examples types, by question.
  private static let answers = [
    ("[y/N]", "y"), ("New passphrase", "correct horse battery staple"), ("Passphrase", "correct horse battery staple"),
    ("Secret", secret), ("URI or key", "JBSWY3DPEHPK3PXP"), (group, ""),
  ]
  private static let secret = "hunter2"
  /// Begins the question about one of the eight groups of a new recovery key.
  private static let group = "Group "
  /// The home directory that the documents show.
  private static let shown = "/home/ada"
  /// In seconds.
  private static let limit = 300.0

  let directory: URL

  static let programs =
    Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent()
    ?? Document.root.appending(path: ".build/debug")

  init() throws {
    directory = FileManager.default.temporaryDirectory.appending(path: "coffer-home-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  /// `script` for /bin/sh in a session without a terminal. Both streams together. `path`: another search path for programs.
  /// `network`: in a network of its own, with servers that take the secret of the examples.
  func run(_ script: String, path: String? = nil, network: Bool = false) throws -> (status: Int32, output: String) {
    let output = Pipe()
    let servers = Document.root.appending(path: "Tests/DocumentationTests/servers").path
    let command = ["/bin/sh", "-c", "exec 2>&1\n" + script]
    let process = process(["--wait"] + (network ? [servers, Self.secret] : []) + command)
    if let path { process.environment?["PATH"] = path }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self).replacing(directory.path, with: Self.shown))
  }

  /// One command at a terminal. Each line of `expected` that ends in a question is answered.
  func runAtTerminal(_ command: String, _ expected: [String]) throws -> (status: Int32, lines: [String]) {
    var (master, slave): (Int32, Int32) = (-1, -1)
    guard unsafe openpty(&master, &slave, nil, nil, nil) == 0 else { throw CocoaError(.fileReadUnknown) }
    let terminal = FileHandle(fileDescriptor: slave, closeOnDealloc: true)
    let process = process(["--ctty", "--wait", "/bin/sh", "-c", command])
    (process.standardInput, process.standardOutput, process.standardError) = (terminal, terminal, terminal)
    do {
      try process.run()
    } catch {
      close(master)
      throw error
    }
    var seen = ""
    var done = seen.startIndex
    let deadline = Date(timeIntervalSinceNow: Self.limit)
    for line in expected {
      guard let (question, answer) = Self.answers.first(where: { line.hasPrefix($0.0) || $0.0 == "[y/N]" && line.contains($0.0) })
      else { continue }
      let asked = question == "[y/N]" || question == Self.group ? question : line
      while process.isRunning, Date() < deadline {
        seen += Self.read(master)
        guard let found = seen.range(of: asked, range: done..<seen.endIndex) else { continue }
        if question == Self.group, !seen[found.upperBound...].contains(":") { continue }
        let typed = question == Self.group ? Self.group(of: seen, askedAt: found.upperBound) : answer
        done = found.upperBound
        _ = unsafe Array((typed + "\r").utf8).withUnsafeBytes { unsafe write(master, $0.baseAddress, $0.count) }
        break
      }
    }
    while process.isRunning, Date() < deadline { seen += Self.read(master) }
    seen += Self.read(master)
    // Ends what still waits for an answer at this terminal; `setsid` is ended with it.
    close(master)
    process.waitUntilExit()
    // A notice that was wiped is no longer seen.
    let shown = seen.replacing("\r\n", with: "\n").replacing(#/[^\r\n]*\r *\r/#, with: "")
    let lines = shown.replacing(directory.path, with: Self.shown).components(separatedBy: "\n")
    return (process.terminationStatus, lines.dropLast(lines.last == "" ? 1 : 0).map { $0.replacing(#/ +$/#, with: "") })
  }

  /// The group whose number is at `place`, of the recovery key that was printed last.
  private static func group(of seen: String, askedAt place: String.Index) -> String {
    let keys = seen.matches(of: #/[A-Z2-7]{7}(-[A-Z2-7]{7}){7}/#)
    guard let key = keys.last, let number = seen[place...].first?.wholeNumberValue else { return "" }
    return key.output.0.split(separator: "-").dropFirst(number - 1).first.map(String.init) ?? ""
  }

  private static func read(_ descriptor: Int32) -> String {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&entry, 1, 50) > 0 else { return "" }
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }

  private func process(_ arguments: [String]) -> Process {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/setsid")
    process.arguments = arguments
    process.currentDirectoryURL = directory
    process.environment = [
      "PATH": "\(Self.programs.path):/usr/bin:/bin", "HOME": directory.path, "TERM": "dumb", "EDITOR": "true",
    ]
    return process
  }
}
