import CofferFiles
import CofferSync
import Glibc
import SyncEngines
import SystemBench
import Testing

@testable import EtcdEngine

/// The engine with three members, of which one dies, stands still, or is cut off.
@Suite(.serialized, hasServer, .enabled(if: SystemBench.mayMount, "takes the superuser, who may make networks"), SharedCluster())
struct ClusterTests {
  enum End: CaseIterable { case kill, stop }

  /// An entry is made once, though a call may fail after it was done.
  private func make(_ number: UInt64, with engine: EtcdEngine) throws {
    let entry = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 3)
    let appended = try persistent { try engine.append(number, entry) }
    guard appended != .made else { return }
    #expect(try appended == .taken && persistent { try engine.read(from: number, limit: 1) } == [NumberedEntry(number, entry)])
  }

  private func count(in engine: EtcdEngine) throws -> UInt64 {
    UInt64(try persistent { try engine.read(from: 0, limit: 500) }.count)
  }

  /// - Parameter body: Gets the leader, and the others.
  private func withLeader(_ body: (Cluster, Int, [Int]) throws -> Void) throws {
    let cluster = try #require(Cluster.shared)
    try cluster.reached {
      _ = try persistent { try cluster.engine(Array(Cluster.members), .new) }
      let leader = try cluster.leader()
      try body(cluster, leader, Cluster.members.filter { $0 != leader })
    }
  }

  @Test(arguments: End.allCases) func nothingIsLostWithTheLeader(end: End) throws {
    try withLeader { cluster, leader, others in
      let engine = try persistent { try cluster.engine([leader] + others, milliseconds: 4000) }
      let first = try count(in: engine)
      for number in first..<first + 5 { try make(number, with: engine) }
      if end == .kill { cluster.kill(leader) } else { cluster.stop(leader) }
      for number in first + 5..<first + 10 { try make(number, with: engine) }
      // A process that begins now, with the address that it always had.
      let other = try persistent { try cluster.engine([leader] + others, milliseconds: 4000) }
      #expect(try count(in: other) == first + 10)
      if end == .kill { cluster.start(leader) } else { cluster.go(leader) }
      // The member that was away answers, and has what was made without it.
      let alone = try persistent { try cluster.engine([leader]) }
      #expect(try count(in: alone) == first + 10)
    }
  }

  /// It leads in its own eyes, and has all but what the others have made since.
  @Test func aMemberThatIsCutOffIsNotBelieved() throws {
    try withLeader { cluster, leader, others in
      let alone = try persistent { try cluster.engine([leader], milliseconds: 60_000) }
      let engine = try persistent { try cluster.engine([leader] + others, milliseconds: 4000) }
      let number = try count(in: engine)
      cluster.cut(leader)
      try make(number, with: engine)
      #expect(code { _ = try alone.read(from: 0, limit: 500) } == .io)
      #expect(try count(in: engine) == number + 1)
      cluster.join(leader)
      #expect(try count(in: alone) == number + 1)
    }
  }

  /// It says so, and another one goes on telling.
  @Test func aWatchLeavesAMemberThatIsCutOff() throws {
    try withLeader { cluster, leader, others in
      for member in [leader, others[0]] {
        let engine = try persistent { try cluster.engine([member, others[1]], milliseconds: 4000) }
        try engine.becomesLive()
        cluster.cut(member)
        try engine.tells()
        // There is a leader again, and the watch is one of the member that follows it.
        try engine.becomesLive()
        try make(count(in: engine), with: engine)
        try engine.tells()
        cluster.join(member)
        _ = try cluster.leader()
      }
    }
  }

  @Test func anAddressWithoutAMemberIsPassedOver() throws {
    try withLeader { cluster, leader, _ in
      let engine = try persistent {
        try EtcdEngine(["10.77.0.9:1", Cluster.endpoint(leader)], cluster.files["ada"], space: Cluster.space)
      }
      try make(count(in: engine), with: engine)
      #expect(code { _ = try EtcdEngine(["10.77.0.9:1"], cluster.files["ada"], space: Cluster.space) } == .io)
    }
  }
}
