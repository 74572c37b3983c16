import CofferFiles
import SyncEngines
import Testing

@testable import EtcdEngine

/// The bytes of protobuf and gRPC, and those of an engine that lies.
@Suite struct MessageTests {
  @Test func requestsHaveTheBytesOfProtobuf() {
    #expect(EtcdRequest.range([0x61], to: [0x62], limit: 300) == [0x0A, 1, 0x61, 0x12, 1, 0x62, 0x18, 0xAC, 2])
    #expect(EtcdRequest.range([0x61], isOfKeysOnly: true) == [0x0A, 1, 0x61, 0x40, 1])
    #expect(EtcdRequest.deletion([0x61], to: [0x62]) == [0x0A, 1, 0x61, 0x12, 1, 0x62])
    let put = EtcdRequest.put(
      [0x61], [0x76], if: [.init(key: [0x61], isThere: false), .init(key: [0x62], isThere: true)], else: [[0x62]])
    let conditions: [UInt8] = [0x0A, 9, 8, 0, 0x10, 1, 0x1A, 1, 0x61, 0x28, 0, 0x0A, 9, 8, 3, 0x10, 1, 0x1A, 1, 0x62, 0x28, 0]
    let operations: [UInt8] = [0x12, 8, 0x12, 6, 0x0A, 1, 0x61, 0x12, 1, 0x76, 0x1A, 7, 0x0A, 5, 0x0A, 1, 0x62, 0x40, 1]
    #expect(put == conditions + operations)
  }

  private static let range: [UInt8] = [
    0x0A, 2, 8, 1, 0x12, 12, 0x0A, 1, 0x61, 0x10, 5, 0x18, 6, 0x20, 1, 0x2A, 1, 0x76, 0x18, 1, 0x20, 0x80, 0x80, 1,
  ]

  @Test func answersAreRead() throws {
    let answer = try RangeAnswer(Self.range[...])
    #expect(answer.hasMore && answer.pairs.map { Array($0.key + $0.value) } == [[0x61, 0x76]])
    let refused = try PutAnswer([0x1A, 4, 0x0A, 2, 0x0A, 0, 0x1A, 26, 0x0A, 24] + Self.range)
    #expect(!refused.isDone && refused.others == [false, true])
    #expect(try PutAnswer([0x10, 1]).isDone)
  }

  /// Each part of an answer, and each with other bytes in it.
  @Test func noAnswerEndsTheProcess() {
    let answer: [UInt8] = [0x1A, 26, 0x0A, 24] + Self.range
    var generator = SystemRandomNumberGenerator()
    for count in 0...answer.count {
      for _ in 0..<500 {
        var bytes = Array(answer.prefix(count))
        for _ in 0..<Int.random(in: 0...3, using: &generator) where count > 0 {
          bytes[Int.random(in: 0..<count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        _ = try? RangeAnswer(bytes[...])
        _ = try? PutAnswer(bytes[...])
        _ = EtcdConnection.message(bytes)
        _ = GRPCStatus(headers: bytes).failure(of: "host:1")
      }
    }
  }

  @Test(
    arguments: [
      [0x0A], [0x0A, 2, 1], [0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1], [0, 0], [3],
      [0x18] + [UInt8](repeating: 0x80, count: 10) + [0], [0x18] + [UInt8](repeating: 0xFF, count: 9) + [2], [0x19, 1],
      [0x1D, 1],
    ] as [[UInt8]]) func malformedAnswersAreErrors(bytes: [UInt8])
  {
    #expect(throws: MessageReader.Malformed.self) { try RangeAnswer(bytes[...]) }
  }

  @Test func anAddressHasMembersWithPorts() {
    for text in ["etcd:localhost:2379", "etcd:a.example:1,[::1]:2,10.0.0.1:65535"] {
      #expect(EngineAddress(text)?.description == text)
    }
    for text in ["", ":1", "a", "a:0", "a:65536", "a:1,", "a:+", "a/b:1", "u@a:1", "::1:2", "a:1,b", "[]:1", "a b:1", "a?:1"] {
      #expect(EngineAddress("etcd:\(text)") == nil, "\(text)")
    }
  }

  @Test func aFrameIsWholeAndNotCompressed() {
    #expect(EtcdConnection.message([0, 0, 0, 0, 1, 7]) == [7])
    for frame: [UInt8] in [
      [], [0, 0, 0, 0], [1, 0, 0, 0, 1, 7], [0, 0, 0, 0, 2, 7], [0, 0, 0, 0, 0, 7], [0, 255, 255, 255, 255],
    ] {
      #expect(EtcdConnection.message(frame) == nil)
    }
  }

  @Test(
    arguments: [
      ("grpc-status: 0\r\n", nil), ("", .toolFailed), ("Grpc-Status: 7\r\n", .accessDenied),
      ("grpc-status: 16\r\n", .accessDenied),
      ("grpc-status: 8\r\n", .full), ("grpc-status: 14\r\n", .io), ("grpc-status: 4\r\n", .io),
      ("grpc-message: etcdserver: request is too large\r\ngrpc-status: 3\r\n", .tooLarge), ("grpc-status: 3\r\n", .toolFailed),
      ("grpc-status: x\r\n", .toolFailed), ("grpc-status: 8\r\ngrpc-message: etcdserver: too many requests\r\n", .io),
      ("grpc-status: 3\r\ngrpc-message: etcdserver: revision of auth store is old\r\n", .io),
    ] as [(String, FileError.Code?)]) func aStatusIsAnError(headers: String, code: FileError.Code?)
  {
    #expect(GRPCStatus(headers: Array("HTTP/2 200\r\n\(headers)\r\n".utf8)).failure(of: "host:1")?.code == code)
  }

  @Test func anErrorNamesAllMembers() {
    var failures = MemberFailures(["a:1", "b:2", "c:3"])
    failures.note(.member(.accessDenied, "one"), of: 0)
    failures.note(.member(.toolFailed, "two"), of: 1)
    failures.note(.member(.accessDenied, "one"), of: 2)
    #expect(failures.error.detail == "no member of the cluster can be used: a:1, c:3: one; b:2: two")
    #expect(failures.error.code == .accessDenied)
    failures.note(.member(.io, "three"), of: 2)
    #expect(failures.error.detail == "no member of the cluster can be used: a:1: one; b:2: two; c:3: three")
    #expect(failures.error.code == .io)
    #expect(failures.late == [])
    failures.note(.late, of: 1)
    #expect(failures.late == [1])
    failures = MemberFailures(["a:1"])
    failures.note(.member(.io, "one"), of: 0)
    #expect(failures.error.detail == "a:1: one")
  }

  @Test func aMemberWithoutALeaderIsNamed() {
    let status = GRPCStatus(headers: Array("grpc-status: 14\r\ngrpc-message: etcdserver: no leader\r\n".utf8))
    guard case .member(.io, "no majority of the members, or no leader (etcdserver: no leader)") = status.failure(of: "a:1") else {
      Issue.record("\(status)")
      return
    }
  }
}
