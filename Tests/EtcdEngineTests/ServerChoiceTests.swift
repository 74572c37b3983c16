import Children
import CofferFiles
import CofferSync
import Glibc
import SyncEngines
import Testing

@testable import EtcdEngine

/// The engine with several addresses, of which one cannot be used.
@Suite(.serialized, hasServer)
struct ServerChoiceTests {
  private func engine(_ endpoints: [String], _ server: Server, as user: String = "ada") throws -> EtcdEngine {
    try EtcdEngine(endpoints, server.files[user], space: Server.space)
  }

  @Test func aServerWithAFalseCertificateIsPassedOver() throws {
    let server = try Server()
    _ = try server.ready()
    server.files.authority("foreign")
    server.files.issue("stranger", by: "foreign", for: ["DNS:localhost"])
    server.files.issue("late", by: "ca", for: ["DNS:localhost"], days: -1)
    for (number, certificate) in zip(UInt64(0)..., ["stranger", "late", "ada"]) {
      let (endpoint, child) = server.files.listen(certificate)
      let engine = try engine([endpoint, server.endpoint], server)
      #expect(try engine.append(number, [1]) == .made)
      let detail = detail { _ = try self.engine([endpoint], server) }
      #expect(detail.contains("\(endpoint): the certificate of the server is refused"), "\(certificate): \(detail)")
      #expect(code { _ = try self.engine([endpoint], server) } == .accessDenied)
      withExtendedLifetime(child) {}
    }
  }

  /// A server of TCP that answers each connection at once with these bytes.
  private func answering(_ bytes: [UInt8]) throws -> (endpoint: String, child: Child) {
    let port = Server.freePort()
    let script = """
      import socket
      server = socket.create_server(('127.0.0.1', \(port)))
      print(flush=True)
      while True:
        client = server.accept()[0]
        client.sendall(bytes(\(bytes)))
        client.recv(9999)
        client.close()
      """
    let child = Child(["python3", "-c", script])
    #expect(child.line() == "")
    return ("localhost:\(port)", child)
  }

  private static let unknownAuthority: [UInt8] = [0x15, 3, 3, 0, 2, 2, 0x30]

  /// An alert in clear text, before any certificate was shown.
  @Test func aRefusalFromAnybodyIsPassedOver() throws {
    let server = try Server()
    _ = try server.ready()
    let (endpoint, child) = try answering(Self.unknownAuthority)
    #expect(try engine([endpoint, server.endpoint], server).append(0, [1]) == .made)
    #expect(code { _ = try engine([endpoint], server) } == .accessDenied)
    // The good one is not forgotten when it does not answer.
    server.stop()
    for endpoints in [[endpoint, server.endpoint], [server.endpoint, endpoint]] {
      let detail = detail { _ = try engine(endpoints, server) }
      #expect(detail.hasPrefix("no member of the cluster can be used: "), "\(detail)")
      #expect(detail.contains("\(endpoint): the server refuses the certificate of this user: "), "\(detail)")
      #expect(detail.contains("\(server.endpoint): no connection"), "\(detail)")
      #expect(code { _ = try engine(endpoints, server) } == .io)
    }
    // All members have one reason.
    server.files.issue("late", by: "ca", days: -1)
    let other = try answering(Self.unknownAuthority)
    let detail = detail { _ = try engine([endpoint, other.endpoint], server, as: "late") }
    #expect(detail.contains(": \(endpoint), \(other.endpoint): the certificate of this user has expired on 20"), "\(detail)")
    #expect(code { _ = try engine([endpoint, other.endpoint], server, as: "late") } == .accessDenied)
    withExtendedLifetime((child, other)) {}
  }

  /// It has the certificate of the other one, and an authority of its own for users.
  @Test func aServerWithAnotherAuthorityIsPassedOver() throws {
    let server = try Server()
    _ = try server.ready()
    let files = "\(server.files.root)/server"
    let other = try Server("--cert-file", "\(files)/cert.pem", "--key-file", "\(files)/key.pem")
    // The end of the connection may overtake the reason.
    while !detail({ _ = try engine([other.endpoint], server) }).contains("the server refuses the certificate of this user: ") {
      usleep(100_000)
    }
    for number in UInt64(0)..<5 {
      #expect(try engine([other.endpoint, server.endpoint], server).append(number, [1]) == .made)
    }
  }

  @Test func aServerWithoutTLSIsNamed() throws {
    let server = try Server()
    let (endpoint, child) = try answering(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
    #expect(detail { _ = try engine([endpoint], server) } == "\(endpoint): the server does not speak TLS at this address")
    #expect(code { _ = try engine([endpoint], server) } == .toolFailed)
    // It ends without a word, as etcd does.
    let silent = try answering([])
    let reason = "the server does not speak TLS at this address, or refuses the certificate of this user"
    #expect(detail { _ = try engine([silent.endpoint], server) } == "\(silent.endpoint): \(reason)")
    // Nor does this end the call.
    server.files.issue("late", by: "ca", days: -1)
    let detail = detail { _ = try engine([silent.endpoint, endpoint], server, as: "late") }
    #expect(detail.contains("\(silent.endpoint): the certificate of this user has expired on 20"), "\(detail)")
    #expect(detail.contains("\(endpoint): the server does not speak TLS"), "\(detail)")
    withExtendedLifetime((child, silent)) {}
  }

  @Test func aServerThatIsNoneOfEtcdIsPassedOver() throws {
    let server = try Server()
    _ = try server.ready()
    // Each answers one call.
    let others = (0..<2).map { _ in server.files.listen("server", "http/1.1") }
    for other in others { other.child.send("HTTP/1.1 404 Not Found\nContent-Length: 0\n") }
    #expect(try engine([others[0].endpoint, server.endpoint], server).append(0, [1]) == .made)
    let endpoint = others[1].endpoint
    #expect(detail { _ = try engine([endpoint], server) } == "\(endpoint): no server of etcd answers")
    withExtendedLifetime(others) {}
  }

  /// No member would allow it: the next one is not asked, which would bring another error.
  @Test func anErrorOfTheUserEndsTheCall() throws {
    let server = try Server()
    _ = try server.ready()
    server.files.issue("bob", by: "ca")
    _ = try server.authenticate(["ada", "bob"], may: .readAndWrite)
    #expect(code { _ = try engine([server.endpoint, "localhost:1"], server, as: "bob") } == .accessDenied)
    server.files.shell("cp ada/key.pem bob/key.pem")
    #expect(code { _ = try engine(["localhost:1", server.endpoint, "localhost:1"], server, as: "bob") } == .accessDenied)
  }

  @Test func anErrorHasTheReasonsOfAllMembers() throws {
    let server = try Server()
    let (endpoint, child) = server.files.listen("ada")
    let detail = detail { _ = try engine(["localhost:1", endpoint, "localhost:2"], server) }
    let reason = "no connection (Connection refused)"
    #expect(detail.hasPrefix("no member of the cluster can be used: localhost:1, localhost:2: \(reason); \(endpoint): the cert"))
    withExtendedLifetime(child) {}
  }

  private func seconds(_ body: () throws -> Void) rethrows -> Duration {
    let start = ContinuousClock.now
    try body()
    return ContinuousClock.now - start
  }

  @Test func aServerThatStandsStillCostsLittle() throws {
    let server = try Server()
    _ = try server.ready()
    let (endpoint, child) = server.files.listen("server")
    child.signal(SIGSTOP)
    let time = try seconds {
      let appended = try engine([endpoint, server.endpoint], server).append(0, [1])
      #expect(appended == .made)
    }
    // Each member has 10 s if no other one answers.
    #expect(time < .seconds(9))
    withExtendedLifetime(child) {}
  }

  @Test func aServerGetsItsTimeIfNoOtherOneAnswers() throws {
    let server = try Server()
    _ = try server.ready()
    let process = try #require(server.child)
    process.signal(SIGSTOP)
    let later = Child(["sh", "-c", "sleep 4; kill -CONT \(process.identifier)"])
    #expect(try engine([server.endpoint, "localhost:1"], server).append(0, [1]) == .made)
    withExtendedLifetime(later) {}
  }

  @Test func serversThatStandStillCostTheTimeOfOne() throws {
    let files = Certificates()
    let others = (0..<3).map { _ in files.listen("server") }
    for other in others { other.child.signal(SIGSTOP) }
    let endpoints = others.map(\.endpoint)
    let time = try seconds {
      let certificates = try files["ada"]
      let detail = detail { _ = try EtcdEngine(endpoints, certificates, space: Server.space) }
      #expect(detail == "no member of the cluster can be used: \(endpoints.joined(separator: ", ")): no answer in time")
    }
    // 10 s, and what the machine takes.
    #expect(time < .seconds(13), "\(time)")
    withExtendedLifetime(others) {}
  }

  /// Each connection comes to the server after 3 s, which is more than a third of half of the time.
  @Test func aSlowNetworkIsUsed() throws {
    let server = try Server()
    _ = try server.ready()
    let port = Server.freePort()
    let script = """
      import socket, threading, time
      def copy(source, target):
          try:
              while part := source.recv(65536): target.sendall(part)
              target.shutdown(socket.SHUT_WR)
          except OSError: pass
      def carry(client):
          time.sleep(3)
          target = socket.create_connection(('127.0.0.1', \(server.endpoint.drop { $0 != ":" }.dropFirst())))
          threading.Thread(target=copy, args=(target, client), daemon=True).start()
          copy(client, target)
      server = socket.create_server(('127.0.0.1', \(port)))
      print(flush=True)
      while True: threading.Thread(target=carry, args=server.accept()[:1], daemon=True).start()
      """
    let child = Child(["python3", "-c", script])
    #expect(child.line() == "")
    let endpoints = [String](repeating: "localhost:\(port)", count: 3)
    #expect(try engine(endpoints, server).append(0, [1]) == .made)
    withExtendedLifetime(child) {}
  }

  /// It takes the request and says nothing: the engine ends with the call, and makes no other one.
  @Test(arguments: [EngineAddress.Purpose.new, .temporary]) func aServerThatSaysNothingIsAskedOnce(
    purpose: EngineAddress.Purpose
  ) throws {
    let files = Certificates()
    let (endpoint, child) = files.listen("server")
    let time = seconds {
      #expect(
        code { _ = try EtcdEngine([endpoint], files["ada"], space: Server.space, purpose, callMilliseconds: 4000) } == .io)
    }
    #expect(time < .milliseconds(7500))
    withExtendedLifetime(child) {}
  }
}
