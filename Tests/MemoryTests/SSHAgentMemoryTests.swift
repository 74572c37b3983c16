import Foundation
import Testing

/// `coffer-ssh-agent`, and the agent of OpenSSH behind it, after signatures with a key of the vault.
@Suite(.enabled(if: getuid() == 0, "only root can look into the agents")) struct SSHAgentMemoryTests {
  /// The seed of an Ed25519 key, and the public key, which the agents have in any case: the control.
  private static func key(in directory: String) throws -> [Needle] {
    let file = directory + "/id"
    try run("/usr/bin/ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", file])
    let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").filter { !$0.hasPrefix("-") }
    let bytes = try #require(Data(base64Encoded: lines.joined()))
    let line = try String(contentsOfFile: file + ".pub", encoding: .utf8).split(separator: " ")
    // openssh-key-v1: the private part holds the seed, and behind it the public key once more.
    let publicKey = try #require(Data(base64Encoded: String(line[1]))).suffix(32)
    let end = try #require(bytes.range(of: publicKey, options: .backwards)).lowerBound
    return [
      Needle(name: "seed", bytes: [UInt8](bytes[end - 32..<end])), Needle(name: "public", bytes: [UInt8](publicKey)),
    ]
  }

  private static func run(_ program: String, _ arguments: [String], _ environment: [String: String] = [:]) throws {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.environment = environment
    (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(program) \(arguments)")
  }

  @Test(.timeLimit(.minutes(60))) func aSignatureLeavesNoKey() throws {
    let directory = NSTemporaryDirectory() + "/coffer-ssh-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let place = try Place(Self.key(in: directory) + [.bytes("key-file", count: 64)], .locked)
    let keyFile = place.file("key-file")
    for command in [
      "vault init --key-file \(keyFile) --no-passphrase", "vault unlock --key-file \(keyFile)", "ssh add \(directory)/id",
    ] {
      let scan = try place.scan("coffer", command.components(separatedBy: " "))
      #expect(scan.ending == "exit 0" && scan.hits.allSatisfy { $0.needle == "public" }, "\(command): \(scan.hits)")
    }
    let keeper = try RunningAgent(of: place)
    // The control for the seed.
    #expect(try place.scan(files: [directory + "/id"]).hits.contains { $0.needle == "seed" })
    try FileManager.default.removeItem(atPath: directory + "/id")

    let socket = directory + "/socket"
    let agent = place.process(Place.program("coffer-ssh-agent"), ["-D", "-a", socket])
    (agent.standardOutput, agent.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
    try agent.run()
    defer {
      agent.terminate()
      agent.waitUntilExit()
    }
    while !FileManager.default.fileExists(atPath: socket), agent.isRunning { usleep(1000) }
    try Data("text".utf8).write(to: URL(filePath: directory + "/text"))
    for number in 1...3 {
      try? FileManager.default.removeItem(atPath: directory + "/text.sig")
      try Self.run(
        "/usr/bin/ssh-keygen", ["-Y", "sign", "-n", "test", "-f", directory + "/id.pub", directory + "/text"],
        ["SSH_AUTH_SOCK": socket])
      for process in [agent.processIdentifier] + Self.children(of: agent.processIdentifier) {
        let hits = try place.scan(process: process).hits
        #expect(hits.allSatisfy { $0.needle == "public" }, "\(number): \(hits)")
        #expect(process != agent.processIdentifier || !hits.isEmpty, "the control")
      }
    }
    // The agent of the vault has it in its arena at most.
    #expect(try keeper.scan().leaks.allSatisfy { $0.needle == "public" })
  }

  private static func children(of process: Int32) -> [Int32] {
    let text = try? String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)
    return (text ?? "").split(separator: " ").compactMap { Int32($0) }
  }
}
