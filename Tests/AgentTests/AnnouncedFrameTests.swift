import CLinux
import CofferRequests
import CofferStorage
import CofferWire
import Foundation
import SystemBench
import Testing

/// A body that is announced but not sent takes no locked memory, of which a process may have little.
@Suite(.serialized, .timeLimit(.minutes(60))) struct AnnouncedFrameTests {
  /// Programs that may ask nothing announce what they do not send, on as many connections as they get. Their frames get no place, so the
  /// large item of another is taken at once. So it is with requests that any program may send, which have no large body.
  @Test(arguments: [Request.Kind.add, .secret, .status, .unlock, .lock, .end, .create, .inspect])
  func programsWithoutRightsTakeNoPlace(_ operation: Request.Kind) throws {
    let bench = try DaemonBench()
    try bench.unlock()
    let announcing = try (0..<2).map { _ in try ManyConnectionsTests.Holder(bench, 30, "announce", ["\(operation.rawValue)"]) }
    #expect(announcing.map(\.answered) == [30, 30])
    let large = String(repeating: "x", count: 1 << 20)
    for number in 0..<3 {
      #expect(try bench.coffer(["secret", "set", "large/\(number)"], input: large).status == 0)
    }
    withExtendedLifetime(announcing) {}
  }

  @Test func manyLargeFramesAtOnce() throws {
    let bench = try DaemonBench()
    try bench.unlock()
    #expect(try bench.coffer(["secret", "set", "small/ada"], input: "hunter2").status == 0)
    let before = try bench.usage()
    let connections = try (0..<WireLimits.connectionsPerProcess).map { _ in
      let descriptor = coffer_local_socket()
      try #require(unsafe coffer_local_name(descriptor, bench.places.agentSocket, 0) == 0)
      let begun = FrameHeader(.request(.add), request: 1, bodyByteCount: 1 << 20).bytes + [0]
      unsafe _ = Glibc.send(descriptor, begun, begun.count, Int32(MSG_NOSIGNAL))
      return descriptor
    }
    // Others are served, as long as they are small.
    #expect(try bench.coffer(["secret", "get", "small/ada"]).output == "hunter2")
    #expect(try bench.coffer(["secret", "set", "small/bob"], input: "hunter3").status == 0)
    let during = try bench.usage()
    // As much as the permits take, and what small frames have needed.
    #expect(during.locked - before.locked <= (WireLimits.largeFrames + 1) << 10, "\(during) after \(before)")
    for descriptor in connections { close(descriptor) }
    // The permits are free again, one after the other.
    let large = String(repeating: "x", count: 1 << 20)
    for number in 0...2 * WireLimits.largeFrames {
      #expect(try bench.coffer(["secret", "set", "large/\(number)"], input: large).status == 0)
    }
    #expect(try bench.coffer(["secret", "get", "large/0"]).output == large)
  }
}
