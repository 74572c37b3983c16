import CofferTesting
import Foundation
import SecretMemory
import Testing
import VaultCore

@testable import CofferSync
@testable import SyncSimulation

/// The reader and the reference in Python find the same: each entry, its cause, the state and the members.
@Suite struct LogVectorTests {
  static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

  private static func bytes(_ text: Substring) throws -> [UInt8] {
    let parts = text.split(separator: "+")
    let digits = Array((parts.first ?? "").utf8)
    let bytes = try stride(from: 0, to: digits.count - 1, by: 2).map { index in
      try #require(UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16))
    }
    return bytes + [UInt8](repeating: 0, count: parts.count > 1 ? try #require(Int(parts[1])) : 0)
  }

  @Test func eachEntryIsWhatTheReferenceSays() throws {
    let lines = try String(contentsOf: Self.tests.appending(path: "Vectors/sync.txt"), encoding: .utf8).split(separator: "\n")
    var identity: DeviceIdentity?
    var space: Identifier?
    var replica: Replica?
    var causes: Set<VoidCause> = []
    for line in lines where !line.hasPrefix("#") {
      let words = line.split(separator: " ", omittingEmptySubsequences: false)
      let (word, first) = (words[0], words[1])
      switch word {
      case "device":
        identity = try DeviceIdentity(
          signingSeed: Secret(testing: Self.bytes(first)), boxSeed: Secret(testing: Self.bytes(words[2])), person: "ada",
          name: "device 0")
      case "space": space = Identifier(try Self.bytes(first))
      case "key":
        replica = Replica(try #require(identity), space: try #require(space), try ValueKey())
        replica?.hints[0] = LockedBytes(try Secret(testing: Self.bytes(first)))
      case "entry":
        let entry = try Self.bytes(words[2])
        let cause = try replica?.fold(entry)
        #expect(cause?.rawValue ?? "valid" == first, "entry \(replica?.count ?? 0)")
        if let cause { causes.insert(cause) }
      case "halt":
        let entry = try Self.bytes(words[2])
        let before = replica?.chain
        do {
          try replica?.fold(entry)
          Issue.record("no halt: \(first)")
        } catch let halt as Halt {
          #expect("\(halt)".hasPrefix(first), "\(halt)")
        }
        #expect(replica?.chain == before)
      case "state":
        let state = try #require(replica)
        #expect(try state.state.digest(state.values).bytes == Self.bytes(first))
      case "end":
        let replica = try #require(replica)
        let devices = replica.membership.devices.keys.sorted().map(\.bytes)
        let found = [replica.chain.bytes, replica.epoch.littleEndianBytes, replica.membership.link.bytes] + devices
        let expected = try words.dropFirst().map { try Self.bytes($0) }
        #expect(found == expected)
      default: Issue.record("\(word)")
      }
    }
    #expect(causes == Set(VoidCause.allCases))
  }

  /// The logs of simulations, with what a device has made of them. One from which the device is removed at once says little, and in
  /// another one it meets a fork.
  @Test func theReferenceReadsWhatDevicesWrite() throws {
    var checked = 0
    for seed in UInt64(1)..<100 where checked < 4 {
      guard let (lines, count) = try? Simulation.transcript(seed: seed), count > 5 else { continue }
      checked += 1
      try Self.check(lines)
    }
    #expect(checked == 4)
  }

  private static func check(_ lines: [String]) throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "coffer-log-\(UUID()).txt")
    defer { try? FileManager.default.removeItem(at: file) }
    try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .ascii)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-B", tests.appending(path: "Reference/sync_check.py").path, file.path]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(String(decoding: text, as: UTF8.self))")
  }
}

extension Simulation {
  /// The log that is left at the end, in the form of Tests/Vectors/sync.txt, as the founder reads it.
  static func transcript(seed: UInt64) throws -> (lines: [String], count: Int) {
    var simulation = try Simulation(seed: seed, flaw: nil)
    for _ in 0..<40 { try simulation.step() }
    func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }
    let founder = simulation.devices[0].replica
    let key = try #require(founder.keys[0])
    var reader = Replica(founder.identity, space: founder.space, try ValueKey())
    reader.hints[0] = key
    let seeds = [UInt8](1...2).map { hex([UInt8](repeating: $0, count: 31) + [0]) }
    var lines = ["device \(seeds[0]) \(seeds[1])", "space \(hex(founder.space.bytes))"]
    lines.append("key \(hex(key.secret.copyIntoUnprotectedBytes()))")
    for entry in simulation.engine.logs[0] {
      var next = reader
      let cause = try next.fold(entry)
      // The device that is removed gets no key.
      if next.membership.removed.contains(reader.id) { break }
      reader = next
      lines.append("entry \(cause?.rawValue ?? "valid") \(hex(entry))")
      if cause == nil { lines.append("state \(hex(try reader.state.digest(reader.values).bytes))") }
    }
    return (lines, reader.kept.filter(\.isValid).count)
  }
}
