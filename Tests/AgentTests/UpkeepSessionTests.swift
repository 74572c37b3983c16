import AppContainers
import CLinux
import CofferFiles
import CofferRequests
import CofferStorage
import CofferTesting
import Foundation
import Glibc
import Passphrases
import SecretMemory
import Testing
import VaultCore

@testable import CofferAgent
@testable import CofferWire

/// The connection over which an agent works on a whole vault: questions, files, and clients that do not keep to the protocol.
@Suite struct UpkeepSessionTests {
  private let client: FrameChannel
  private let session: UpkeepSession

  init() throws {
    var pair: [Int32] = [-1, -1]
    try #require(unsafe coffer_local_pair(&pair) == 0)
    client = FrameChannel(OwnedDescriptor(pair[0])!)
    session = UpkeepSession(FrameChannel(OwnedDescriptor(pair[1])!, frameMilliseconds: 1000), 7)
  }

  private func expect(_ error: some Error & Equatable, _ place: SourceLocation = #_sourceLocation, _ body: () throws -> Void) {
    #expect(throws: error, sourceLocation: place) { try body() }
  }

  private func question() throws -> UpkeepQuestion {
    var frame = try client.receive()!
    let header = frame.header
    #expect(header == FrameHeader(.question, request: 7, bodyByteCount: header.bodyByteCount))
    return try UpkeepQuestion(frame.message.take()!)
  }

  @Test func progressIsNotSentMoreOftenThanAPersonReads() throws {
    try session.begin("checking")
    for done in 0..<1000 { try session.step(UInt64(done), of: 1000) }
    try session.begin("copying")
    try session.step(1, of: 2)
    var seen: [UpkeepProgress] = []
    while try client.isReadable(within: 0) {
      var frame = try client.receive()!
      seen.append(try UpkeepProgress(frame.message.take()!))
    }
    #expect(seen.first == UpkeepProgress("checking", 0, of: 1000) && seen.last == UpkeepProgress("copying", 1, of: 2))
    #expect(seen.count < 1000)
  }

  @Test func aClientSendsNothingWithoutBeingAsked() throws {
    try client.send(UpkeepReply.yes, request: 7)
    expect(FrameChannel.Failure.closed) { _ = try session.isAgreed(UpkeepQuestion(.agreement)) }
    expect(FrameChannel.Failure.closed) { try session.step(1, of: 2) }
    expect(FrameChannel.Failure.closed) { try session.begin("checking") }
  }

  /// Runs the agent's part in another thread, and the client's here.
  private func meet<Result: Sendable>(
    _ agent: @escaping @Sendable (UpkeepSession) throws -> Result, _ body: () throws -> Void
  ) throws -> Swift.Result<Result, any Error> {
    let (box, ended) = (Box<Result>(session), DispatchSemaphore(value: 0))
    Foundation.Thread.detachNewThread {
      box.result = Swift.Result { try agent(box.session) }
      ended.signal()
    }
    do { try body() } catch {
      client.shutDown()
      ended.wait()
      throw error
    }
    ended.wait()
    return try #require(box.result)
  }

  @Test func aReplyComesBack() throws {
    let rows = [Attributes(), Attributes()]
    for isYes in [true, false] {
      let result = try meet {
        try $0.isAgreed(UpkeepQuestion(.agreement, rows))
      } _: {
        #expect(try question() == UpkeepQuestion(.agreement, rows))
        try client.send(isYes ? .yes : .no, request: 7)
      }
      #expect(try result.get() == isYes)
    }
    let salts = try meet { session in
      switch try session.reply(to: UpkeepQuestion(.credential)) {
      case .credentials(let present, let new): return [salt(of: present), new.salt]
      default: return []
      }
    } _: {
      _ = try question()
      let (old, new) = ([UInt8](repeating: 1, count: 16), [UInt8](repeating: 2, count: 16))
      try client.send(
        .credentials(
          present: .derived(.random(count: 32), .passphrase, salt: old), new: .derived(.random(count: 32), .passphrase, salt: new)
        ),
        request: 7)
    }
    #expect(try salts.get() == [[UInt8](repeating: 1, count: 16), [UInt8](repeating: 2, count: 16)])
  }

  @Test func anythingElseThanAReplyEndsIt() throws {
    let others: [(UpkeepSessionTests) throws -> Void] = [
      { try $0.client.send(Request.session(.status).frame(request: 7)) },
      { try $0.client.send(UpkeepReply.yes, request: 8) },
      { try $0.client.send(Message(parts: [[1]]).frame(.reply, request: 7)) },
      { try $0.client.send(Message(secret: .random(count: 31)).frame(.reply, request: 7)) },
      { try $0.client.send(Message(secret: .random(count: 96)).frame(.reply, request: 7)) },
    ]
    for (index, other) in others.enumerated() {
      let test = try UpkeepSessionTests()
      let result = try test.meet {
        try $0.isAgreed(UpkeepQuestion(.agreement))
      } _: {
        _ = try test.question()
        try other(test)
      }
      #expect(throws: WireError.self, "\(index)") { _ = try result.get() }
    }
    client.shutDown()
    expect(FrameChannel.Failure.closed) { _ = try session.isAgreed(UpkeepQuestion(.agreement)) }
  }

  // MARK: Files

  @Test func aFileIsHandedOnInBothDirections() throws {
    let file = try TemporaryFile("of the client")
    let taken = try meet {
      try contents(of: $0.takeFile())
    } _: {
      #expect(try question() == UpkeepQuestion(.file))
      try client.send(.file(file.descriptor.number), request: 7)
    }
    #expect(try taken.get() == "of the client")
    let handed = try meet { session in
      let file = try TemporaryFile("of the agent")
      try session.hand(file.descriptor.number)
    } _: {
      #expect(try question() == UpkeepQuestion(.offer))
      try client.send(.yes, request: 7)
      #expect(try contents(of: client.takeFile(request: 7)) == "of the agent")
    }
    try handed.get()
  }

  /// And nothing that came with it stays open.
  @Test func oneDescriptorInOneMessageOrNone() throws {
    func sent(_ bytes: [UInt8], _ descriptors: [Int32]) throws -> Swift.Result<Bool, any Error> {
      let test = try UpkeepSessionTests()
      return try test.meet {
        _ = try $0.takeFile()
        return true
      } _: {
        _ = try test.question()
        Self.send(bytes, descriptors, over: test.client.descriptor)
      }
    }
    let frame = FrameHeader(.descriptor, request: 7, bodyByteCount: 0).bytes
    var pipe: [Int32] = [-1, -1]
    try #require(unsafe Glibc.pipe(&pipe) == 0)
    let end = pipe[1]
    #expect(try sent(frame, [end]).get())
    for (bytes, descriptors) in [
      (frame, []), (frame, [end, end]), (frame, [end, end, end]), (Array(frame.dropLast()), [end]),
      (FrameHeader(.descriptor, request: 8, bodyByteCount: 0).bytes, [end]),
    ] {
      #expect(throws: WireError.self, "\(bytes) \(descriptors.count)") { _ = try sent(bytes, descriptors).get() }
    }
    // The reading end meets the end of the stream once each copy of the other end is closed.
    close(end)
    var entry = pollfd(fd: pipe[0], events: Int16(POLLIN), revents: 0)
    #expect(unsafe poll(&entry, 1, 60_000) == 1 && entry.revents & Int16(POLLHUP) != 0)
    close(pipe[0])
  }

  private static func send(_ bytes: [UInt8], _ descriptors: [Int32], over socket: Int32) {
    var room = [UInt8](repeating: 0, count: 64)
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe room.withUnsafeMutableBytes { room in
        var vector = unsafe iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
        unsafe withUnsafeMutablePointer(to: &vector) { vector in
          var message = unsafe msghdr()
          unsafe (message.msg_iov, message.msg_iovlen) = (vector, 1)
          if !descriptors.isEmpty {
            let length = MemoryLayout<cmsghdr>.size + 4 * descriptors.count
            unsafe room.storeBytes(of: length, as: Int.self)
            unsafe room.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
            unsafe room.storeBytes(of: 1, toByteOffset: 12, as: Int32.self)
            for (index, descriptor) in descriptors.enumerated() {
              unsafe room.storeBytes(of: descriptor, toByteOffset: 16 + 4 * index, as: Int32.self)
            }
            unsafe (message.msg_control, message.msg_controllen) = (room.baseAddress, (length + 7) / 8 * 8)
          }
          _ = unsafe sendmsg(socket, &message, Int32(MSG_NOSIGNAL))
        }
      }
    }
  }
}

/// Passes a session into another thread, and its result back.
private final class Box<Value: Sendable>: @unchecked Sendable {
  var result: Result<Value, any Error>?
  let session: UpkeepSession
  init(_ session: UpkeepSession) { self.session = session }
}

private func salt(of credential: borrowing Credential?) -> [UInt8]? {
  switch credential {
  case .some(let credential): credential.salt
  case .none: nil
  }
}

/// A file without a name.
private struct TemporaryFile: ~Copyable {
  let descriptor: OwnedDescriptor

  init(_ text: String) throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "coffer-file-\(UUID().uuidString)").path
    descriptor = OwnedDescriptor(unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600))!
    unsafe unlink(path)
    unsafe _ = write(descriptor.number, text, text.utf8.count)
  }
}

private func contents(of file: consuming OwnedDescriptor) -> String {
  var bytes = [UInt8](repeating: 0, count: 64)
  let count = unsafe pread(file.number, &bytes, bytes.count, 0)
  return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
}
