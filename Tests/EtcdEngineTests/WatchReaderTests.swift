import CofferFiles
import Testing

@testable import EtcdEngine

/// The frames of a watch: those of etcd, and those of an engine that lies.
@Suite struct WatchReaderTests {
  private static let header: [UInt8] = [0x0A, 6, 8, 1, 0x10, 1, 0x18, 2]
  private static let begin = EtcdConnection.frame(header + [0x18, 1])
  private static let entry = EtcdConnection.frame(header + [0x5A, 5, 0x12, 3, 0x0A, 1, 0x61])
  private static let long = EtcdConnection.frame([0x5A] + [UInt8](repeating: 0x7F, count: 100_000))

  private static func events(_ parts: [[UInt8]]) throws -> [WatchReader.Event] {
    var reader = WatchReader()
    return try parts.flatMap { try reader.take($0) }
  }

  @Test func answersMayBeSplitAnywhere() throws {
    let bytes = Self.begin + Self.entry + EtcdConnection.frame([]) + Self.entry
    #expect(try Self.events(bytes.map { [$0] }) == [.begin, .entry, .entry])
    for count in 0...bytes.count {
      #expect(try Self.events([Array(bytes.prefix(count)), Array(bytes.dropFirst(count))]) == [.begin, .entry, .entry])
    }
    let longer = Self.begin + Self.long + Self.entry
    #expect(try Self.events([longer]) == [.begin, .entry, .entry])
    #expect(try Self.events(longer.map { [$0] }) == [.begin, .entry, .entry])
  }

  /// As etcd answers a user whose role does not allow it.
  @Test func aWatchThatIsRefusedHasEnded() throws {
    #expect(try Self.events([EtcdConnection.frame(Self.header + [0x18, 1, 0x20, 1, 0x32, 1, 0x61])]) == [.end])
    #expect(try Self.events([EtcdConnection.frame(Self.header + [0x18, 0, 0x20, 0])]) == [])
  }

  @Test func nothingIsKeptOfALongAnswer() throws {
    var reader = WatchReader()
    var bytes: [UInt8] = [0, 0xFF, 0xFF, 0xFF, 0xFF]
    for _ in 0..<1000 {
      #expect(try reader.take(bytes) == [])
      let kept = reader.message.count
      try #require(kept == 0)
      bytes = [UInt8](repeating: 1, count: 16 << 10)
    }
  }

  @Test(arguments: [[1], [0xFF], [3], [0x0A, 2, 1], [0, 0], [0x18], [0x5A, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F]] as [[UInt8]])
  func malformedAnswersAreErrors(bytes: [UInt8]) {
    #expect(throws: MessageReader.Malformed.self) { try Self.events([EtcdConnection.frame(bytes)]) }
  }

  @Test func aCompressedFrameIsAnError() {
    #expect(throws: MessageReader.Malformed.self) { try Self.events([[1] + Self.begin.dropFirst()]) }
    #expect(throws: MessageReader.Malformed.self) { try Self.events([Array("<html>".utf8)]) }
  }

  @Test func noAnswerEndsTheProcess() {
    let bytes = Self.begin + Self.entry + Self.long.prefix(3000)
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<5000 {
      var (changed, reader) = (bytes, WatchReader())
      for _ in 0..<Int.random(in: 0...3, using: &generator) {
        changed[Int.random(in: 0..<60, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      while !changed.isEmpty {
        let count = Int.random(in: 1...changed.count, using: &generator)
        guard (try? reader.take(changed.prefix(count))) != nil else { break }
        changed.removeFirst(count)
      }
    }
  }

  @Test func theRequestHasTheBytesOfProtobuf() {
    #expect(EtcdRequest.watch([0x61], to: [0x62]) == [0x0A, 9, 0x0A, 1, 0x61, 0x12, 1, 0x62, 0x2A, 1, 1])
  }
}
