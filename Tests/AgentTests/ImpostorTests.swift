import CLinux
import CofferRequests
import CofferWire
import Foundation
import Synchronization
import Testing
import Waiting

@testable import CofferAgent

/// Programs that nobody signed, and that try to be taken for an app.
@Suite(.timeLimit(.minutes(15))) struct ImpostorTests {
  private let probe = AgentBench.program("AgentProbe")

  // MARK: The program that the kernel names

  /// - Parameter prefix: The command that starts the process.
  private func disguised(_ script: String, _ prefix: [String], in bench: AgentBench) throws -> [String] {
    try bench.unlock()
    let app = try bench.install(probe, as: "com.example.app")
    let loader = bench.directory.appending(path: "loader")
    let architecture = try #require(
      ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"].first { FileManager.default.fileExists(atPath: $0) })
    try Data(contentsOf: URL(filePath: architecture)).write(to: loader)
    #expect(unsafe chmod(loader.path, 0o700) == 0)
    let words = try prefix + [loader.path] + AttackScript.write(script, in: bench.directory)
    return try bench.run(URL(filePath: "/usr/bin/env"), words + [loader.path, app.path, bench.socket])
  }

  /// There it has the capability to choose what `/proc/PID/exe` opens.
  @Test func aProgramInAUserNamespaceOfItsOwnIsNobody() throws {
    let bench = try AgentBench()
    let found = try disguised(AttackScript.disguised, ["/usr/bin/unshare", "--user", "--map-root-user"], in: bench)
    #expect(found == ["True", "missingEntitlement"])
    #expect(bench.decisions.last?.0.program == .unknown("it is in a container: its requests could be anybody's there"))
  }

  /// Not defended, and pinned: a child with that capability that shares the memory of a process in our user namespace. The kernel keeps no
  /// trace of it.
  @Test func aChildThatSharesItsMemoryDisguisesAProcess() throws {
    let bench = try AgentBench()
    #expect(try disguised(AttackScript.disguisedByChild, [], in: bench) == ["True", "done"])
  }

  // MARK: The app as a filter

  /// The bytes that were sent before it executed the app: none, or part of the response to the challenge.
  @Test(arguments: ["nothing", "header", "header with descriptor", "all"])
  func aFilterIsNotAskedThrough(early: String) throws {
    let isTheApp = Atomic(false)
    // The agent does not come to the later requests before.
    let bench = try AgentBench(identifying: { try wait(for: "it is the app") { isTheApp.load(ordering: .acquiring) } })
    try bench.unlock()
    let app = try bench.install(probe, as: "com.example.app")
    let length = try Challenge.random().response().count - FrameHeader.byteCount
    let words = try AttackScript.write(AttackScript.filter, in: bench.directory)
    let output = try bench.run(
      URL(filePath: words[0]), words.dropFirst() + [bench.socket, app.path, early, "\(length)"], afterLines: 1
    ) { isTheApp.store(true, ordering: .releasing) }
    #expect(output == ["here", "1 done", "2 challenge", "2 missingEntitlement", "None closed"])
    #expect(
      bench.decisions.last?.1
        == .refuse(code: .missingEntitlement, rule: "the program did not return the number of the challenge"))
    #expect(try bench.run(app, ["once", bench.socket]) == ["done"], "it is not refused when it asks itself")
  }

  /// The program that returns the number has to be the one that was challenged.
  @Test func theProgramIsIdentifiedAgainAfterTheResponse() throws {
    let isTheApp = Atomic(false)
    let isAsked = FileManager.default.temporaryDirectory.path + "/coffer-asked-\(UUID().uuidString.prefix(8))"
    defer { unsafe _ = unlink(isAsked) }
    // The last request waits until the process is the app again.
    let bench = try AgentBench(identifying: {
      guard FileManager.default.fileExists(atPath: isAsked) else { return }
      try wait(for: "it is the app") { isTheApp.load(ordering: .acquiring) }
    })
    try bench.unlock()
    let app = try bench.install(probe, as: "com.example.app")
    let words = try AttackScript.write(AttackScript.successor, in: bench.directory)
    let output = try bench.run(
      app, ["challenged", bench.socket] + words + [app.path, bench.socket, isAsked], afterLines: 3
    ) { isTheApp.store(true, ordering: .releasing) }
    #expect(output == ["challenge", "8 done", "here", "9 challenge"])
  }

  /// A round trip for the first request, and none for those that follow.
  @Test func aConnectionIsChallengedOnce() throws {
    let senderProof = SenderProof()
    let facts = Gate.Facts(operation: .items, program: .command)
    #expect(!senderProof.covers(.command))
    let challenge = try senderProof.challenge(facts)
    #expect(try challenge != senderProof.challenge(facts), "each number is used once")
    senderProof.complete(.command)
    #expect(senderProof.pending == nil && senderProof.covers(.command) && senderProof.covers(.command))
    // Another program in between is a change, also if the first one comes back.
    #expect(!senderProof.covers(.app("a")) && !senderProof.covers(.command))
    _ = try senderProof.challenge(facts)
    senderProof.complete(.app("a"))
    #expect(!senderProof.covers(.command), "another program has returned the number")
    _ = try senderProof.challenge(facts)
    senderProof.complete(.app("a"))
    #expect(!senderProof.covers(.app("a")), "it was not challenged")
  }

  // MARK: The file that is read

  @Test func onlyLocalFilesAreRememberedByTheirAttributes() throws {
    /// How often the content was read for two looks.
    func reads(_ path: String) throws -> Int {
      let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
      try #require(file >= 0, "\(path)")
      defer { close(file) }
      var status = stat()
      #expect(unsafe fstat(file, &status) == 0)
      let digests = ProgramDigests()
      var count = 0
      for _ in 0..<2 {
        var isRead = false
        #expect(
          digests.digest(
            of: file, status,
            while: {
              isRead = true
              return true
            }) != nil)
        if isRead { count += 1 }
      }
      return count
    }
    // No test can make a file system of another machine; this one is not on a device either.
    #expect(try reads("/proc/version") == 2)
    let directory = FileManager.default.temporaryDirectory.path + "/coffer-local-\(UUID().uuidString.prefix(8))"
    try Data("x".utf8).write(to: URL(filePath: directory))
    defer { unsafe _ = unlink(directory) }
    let file = unsafe open(directory, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    #expect(try reads(directory) == (FileOrigin(of: file) == .local ? 1 : 2))
  }

  @Test(
    .enabled(
      if: geteuid() == 0 && FileManager.default.fileExists(atPath: "/dev/fuse"),
      "only the superuser can mount, and FUSE is needed"))
  func aFileSystemThatAProgramServesProvesNothing() throws {
    let bench = try AgentBench()
    try bench.unlock()
    var programs: [String] = []
    for byte in [UInt8(0), 1] {
      let file = bench.directory.appending(path: "program-\(byte)")
      try (Data(contentsOf: probe) + [byte]).write(to: file)
      #expect(unsafe chmod(file.path, 0o700) == 0)
      programs.append(file.path)
    }
    let app = try bench.install(URL(filePath: programs[0]), as: "com.example.app")
    let place = bench.directory.appending(path: "place")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    let words = try AttackScript.write(AttackScript.fileSystem, in: bench.directory)
    let found = try bench.run(
      URL(filePath: "/usr/bin/unshare"),
      ["--mount", "--propagation", "private"] + words + [place.path, app.path, programs[1], "\(getpid())", bench.socket])
    #expect(found == ["missingEntitlement"])
    #expect(bench.decisions.count == 1, "it was identified")
    #expect(bench.decisions.last?.0.program.grantedName == nil, "its content has no name for a grant either")
    #expect(try bench.run(app, ["once", bench.socket]) == ["done"])
  }
}
