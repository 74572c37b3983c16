import AccessRights
import CLinux
import CofferFiles
import CofferRequests
import CofferStorage
import CofferTesting
import Foundation
import SecretMemory
import Testing
import VaultCore

@testable import CofferAgent
@testable import CofferWire

/// Clients that take their time, stop in the middle, announce what they do not send, or do not read. Each is cut off, the agent
/// goes on, and nobody else waits.
@Suite(.timeLimit(.minutes(60))) struct SlowClientTests {
  /// Identifies every client as `coffer`: it is this process.
  private struct Everybody: ProgramDirectory {
    func identify(_ peer: Peer) -> ProgramIdentity { .command }
    func manifest(of application: String) -> SignedManifest? { nil }
  }

  static let frameMilliseconds: Int32 = 500
  let bench: AgentBench

  init() throws {
    bench = try AgentBench(frameMilliseconds: Self.frameMilliseconds, programs: Everybody())
    try bench.unlock()
  }

  private func connected(to other: AgentBench? = nil) throws -> Int32 {
    let descriptor = coffer_local_socket()
    try #require(unsafe coffer_local_name(descriptor, (other ?? bench).socket, 0) == 0)
    // The first request that needs to be somebody's is challenged.
    guard let copy = OwnedDescriptor(dup(descriptor)) else { throw POSIXError(.EMFILE) }
    let channel = FrameChannel(copy)
    try channel.send(Request.items(.contains(AccessGroup("default"))).frame(request: 1))
    guard var frame = try channel.receive(), let message = frame.message.take() else { throw FrameChannel.Failure.closed }
    try channel.answer(Challenge(message))
    return descriptor
  }

  /// Not more than fits.
  private func send(_ bytes: [UInt8], _ descriptor: Int32) {
    unsafe _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
  }

  private func isReadable(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&entry, 1, milliseconds) == 1
  }

  /// Reads until the agent closes. Returns nil if it has not closed within five minutes.
  private func answer(_ descriptor: Int32) -> [UInt8]? {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while isReadable(descriptor, within: 300_000) {
      let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
      if count <= 0 { return all }
      all += buffer[..<count]
    }
    return nil
  }

  /// Another client gets an answer, within five minutes.
  private func expectServed(_ comment: Comment? = nil) throws {
    let descriptor = try connected()
    defer { close(descriptor) }
    send(try Request.items(.items(nil, nil, Attributes())).frame(request: 1).copyIntoUnprotectedBytes(), descriptor)
    #expect(isReadable(descriptor, within: 300_000), comment)
    var head = [UInt8](repeating: 0, count: FrameHeader.byteCount)
    #expect(unsafe recv(descriptor, &head, head.count, Int32(MSG_WAITALL)) == head.count, comment)
    let operation = unsafe try FrameHeader(parsing: head.span.bytes).kind
    #expect(operation == .done || operation == .part, comment)
  }

  private func itemCount(_ other: AgentBench? = nil) throws -> Int { try (other ?? bench).openVault().entries().entries.count }

  /// A byte now and then: the time is that of the frame, and does not begin anew.
  @Test(arguments: [0, 15, 16]) func aFrameThatTrickles(start: Int) throws {
    var slow = try (0..<20).map { _ in try connected() }
    let silent = try connected()
    defer { for descriptor in slow + [silent] { close(descriptor) } }
    let header = FrameHeader(.request(.add), request: 1, bodyByteCount: 1 << 20).bytes + [UInt8](repeating: 0, count: 500)
    for descriptor in slow where start > 0 { send(Array(header[..<start]), descriptor) }
    // Ten times as long as a frame may take.
    for count in 0..<100 where !slow.isEmpty {
      for descriptor in slow { send([header[start + count]], descriptor) }
      if count % 10 == 5 { try expectServed() }
      usleep(UInt32(Self.frameMilliseconds) * 100)
      for descriptor in slow where isReadable(descriptor, within: 0) {
        // All but one have waited for the place that a process has, and are told so.
        let received = try #require(answer(descriptor))
        #expect(received.isEmpty || start > 0 && received.contains(Array("busy".utf8)))
        close(descriptor)
        slow.removeAll { $0 == descriptor }
      }
    }
    #expect(slow.isEmpty)
    // A client that has sent nothing yet has no time limit.
    #expect(!isReadable(silent, within: 0))
    try expectServed()
  }

  private static func add(secret: [UInt8] = Array("hunter2".utf8)) throws -> [UInt8] {
    try Request.items(.add(Item(service: "s", account: "a"), Secret(testing: secret), nil, .whenUnlocked, installBound: false))
      .frame(
        request: 1
      )
      .copyIntoUnprotectedBytes()
  }

  /// Cut off by the client at each byte: no answer, nothing done, nothing left.
  @Test func halfOfAFrame() throws {
    let frame = try Self.add()
    for count in 1..<frame.count {
      let descriptor = try connected()
      send(Array(frame[..<count]), descriptor)
      if count % 2 == 0 {
        shutdown(descriptor, Int32(SHUT_WR))
        #expect(answer(descriptor) == [], "\(count)")
      }
      close(descriptor)
    }
    #expect(try itemCount() == 0)
    try expectServed()
    // The control: the whole frame.
    let descriptor = try connected()
    send(frame, descriptor)
    shutdown(descriptor, Int32(SHUT_WR))
    #expect(answer(descriptor)?.isEmpty == false)
    close(descriptor)
    #expect(try itemCount() == 1)
  }

  /// Each length with what is around its limits: refused, and never taken for another request.
  @Test func lengthsThatAreNone() throws {
    // The secret is the rest of the body: of a shorter body it would be a shorter one.
    let frame = try Self.add(secret: [])
    // Nothing here is closed for its slowness.
    let patient = try AgentBench(frameMilliseconds: 600_000, programs: Everybody())
    try patient.unlock()
    func length(at offset: Int) -> Int { (0..<4).reduce(0) { $0 | Int(frame[offset + $1]) << (8 * $1) } }
    // The length of the body, of the fields, of the part; and the number of parts.
    let fields = FrameHeader.byteCount
    let parts = fields + 4 + length(at: fields)
    let lengths = [(0, 4), (fields, 4), (parts, 2), (parts + 2, 4)]
    for (offset, width) in lengths {
      let genuine = width == 4 ? length(at: offset) : 1
      let limits = [
        0, genuine, WireLimits.partCount, WireLimits.partByteCount, WireLimits.frameByteCount - FrameHeader.byteCount, 1 << 31,
        1 << 32,
      ]
      let values = Set(
        limits.flatMap { [$0 - 1, $0, $0 + 1] }.map { UInt32(truncatingIfNeeded: $0) }.map { width == 2 ? $0 & 0xFFFF : $0 })
      for value in values where value != UInt32(genuine) {
        var other = frame
        for index in 0..<width { other[offset + index] = UInt8(truncatingIfNeeded: value >> UInt32(8 * index)) }
        let descriptor = try connected(to: patient)
        send(other, descriptor)
        // A length above the limit is refused at once; otherwise the agent waits for the rest.
        if offset == 0, value <= UInt32(WireLimits.frameByteCount - FrameHeader.byteCount) {
          shutdown(descriptor, Int32(SHUT_WR))
        }
        #expect(answer(descriptor) == [], "\(value) at \(offset)")
        close(descriptor)
      }
    }
    #expect(try itemCount(patient) == 0)
  }

  /// A client that asks for more than the sockets hold, and reads nothing of it.
  @Test func aClientThatDoesNotReadIsDisconnected() throws {
    var vault = try bench.openVault()
    for number in 0..<20 {
      var item = Item(service: "large", account: "\(number)")
      item["comment"] = String(repeating: "x", count: 60_000)
      _ = try vault.add(item, secret: Secret(testing: "x"), at: .test)
    }
    try vault.close()
    let deaf = try (0..<20).map { _ in try connected() }
    defer { for descriptor in deaf { close(descriptor) } }
    for descriptor in deaf {
      send(try Request.items(.items(nil, nil, Attributes())).frame(request: 1).copyIntoUnprotectedBytes(), descriptor)
    }
    for descriptor in deaf {
      try expectServed()
      // POLLRDHUP. Bytes that have arrived stay readable; the flag reports that no more will come.
      var entry = pollfd(fd: descriptor, events: Int16(0x2000), revents: 0)
      #expect(unsafe poll(&entry, 1, 10_000) == 1)
      let received = answer(descriptor)
      #expect((received?.count ?? .max) < 20 * 60_000, "cut off, not served")
    }
    try expectServed()
  }

  /// Descriptors that arrive with the bytes of a request are closed, but for the one that answers the challenge.
  @Test func descriptorsThatComeAlong() throws {
    let passed = bench.directory.appending(path: "passed").path
    let script = """
      import array, socket, struct
      passed = open('\(passed)', 'w').fileno()
      s = socket.socket(socket.AF_UNIX); s.connect('\(bench.socket)')
      body = struct.pack('<IHI', 0, 1, 0)
      frame = struct.pack('<IHHQ', len(body), 1, 5, 7) + body
      s.sendall(frame)
      challenge = s.recv(struct.unpack('<I', s.recv(16, socket.MSG_WAITALL)[:4])[0], socket.MSG_WAITALL)
      s.sendmsg([struct.pack('<IHHQ', len(challenge), 1, 15, 0) + challenge], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [passed]))])
      for byte in frame: s.sendmsg([bytes([byte])], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [passed] * 100))])
      print(struct.unpack('<IHHQ', s.recv(16, socket.MSG_WAITALL))[2], flush=True)
      input()
      """
    // Counted by the file, because other tests open descriptors in this process at the same time.
    var kept = 0
    let output = try bench.run(URL(filePath: "/usr/bin/python3"), ["-c", script], afterLines: 1) {
      let files = FileManager.default
      kept = try files.contentsOfDirectory(atPath: "/proc/self/fd").count {
        (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == passed
      }
    }
    #expect(output == ["128"])
    #expect(kept <= 1)
  }
}
