import Children
import CofferFiles
import CofferSync
import Glibc
import SyncEngines
import Testing
import VaultCore

@testable import EtcdEngine

/// Three members of etcd, each in a network of its own, and a network of the clients, with a bridge between them.
///
/// All of it belongs to one shell in namespaces of its own. It reads commands from this process: whatever happens to this process, the
/// shell ends with it, and the kernel ends the members.
/// One test after the other uses it.
final class Cluster: @unchecked Sendable {
  static let space = Server.space
  static let members = 1...3
  @TaskLocal static var shared: Cluster?

  let files = Certificates(for: members.map { "IP:\(host($0))" })
  private let shell = Child(["unshare", "-n", "-p", "-f", "--kill-child", "--mount-proc", "sh"])

  /// The time of an election is long: a machine that is busy has no other leader for that.
  private static let commands = """
    exec 2>>shell
    ip link set lo up; ip link add hub type bridge; ip addr add 10.77.0.9/24 dev hub; ip link set hub up
    network() {
      unshare -n sleep infinity & eval net$1=$!; net=$!
      until [ "$(readlink /proc/$net/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
      ip link add v$1 type veth peer name eth0 netns $net; ip link set v$1 master hub up
      nsenter -t $net -n sh -c "ip link set lo up; ip addr add 10.77.0.$1/24 dev eth0; ip link set eth0 up"
    }
    start() {
      eval net=\\$net$1; u=https://10.77.0.$1:2379 p=http://10.77.0.$1:2380
      nsenter -t $net -n etcd --name n$1 --data-dir data$1 --listen-client-urls $u --advertise-client-urls $u \\
        --listen-peer-urls $p --initial-advertise-peer-urls $p --heartbeat-interval 200 --election-timeout 2000 \\
        --initial-cluster n1=http://10.77.0.1:2380,n2=http://10.77.0.2:2380,n3=http://10.77.0.3:2380 --client-cert-auth \\
        --trusted-ca-file ca/ca.pem --cert-file server/cert.pem --key-file server/key.pem --logger zap --log-outputs log$1 &
      eval etcd$1=$!
    }
    signal() { eval kill -$2 \\$etcd$1; }
    end() { signal $1 9; eval wait \\$etcd$1; }
    route() { eval net=\\$net$1; nsenter -t $net -n ip route $2 blackhole 10.77.0.$3; }
    # From the other members, and them from it; clients reach it.
    between() { for m in 1 2 3; do [ $m = $1 ] || { route $1 $2 $m; route $m $2 $1; }; done; }
    """

  init() {
    shell.send("cd \(files.root)\n\(Self.commands)")
    for member in Self.members { shell.send("network \(member); start \(member)") }
    // The calls that follow need the network of the clients.
    command(":")
  }

  static func host(_ member: Int) -> String { "10.77.0.\(member)" }
  static func endpoint(_ member: Int) -> String { "\(host(member)):2379" }

  private func command(_ line: String) { #expect(shell.ask("\(line); echo done") == "done") }

  func kill(_ member: Int) { command("end \(member)") }
  func start(_ member: Int) { command("start \(member)") }
  func stop(_ member: Int) { command("signal \(member) STOP") }
  func go(_ member: Int) { command("signal \(member) CONT") }
  func cut(_ member: Int) { command("between \(member) add") }
  func join(_ member: Int) { command("between \(member) del") }

  // MARK: Calls

  /// In the network of the clients: that of a process is the one of its thread.
  func reached<Result>(_ body: () throws -> Result) throws -> Result {
    typealias Enter = @convention(c) (Int32, Int32) -> Int32
    let enter = unsafe unsafeBitCast(try #require(unsafe dlsym(nil, "setns")), to: Enter.self)
    func enterNetwork(_ descriptor: Int32) { precondition(enter(descriptor, 0x4000_0000) == 0, "setns: errno \(errno)") }
    let networks = ["thread-self", "\(shell.identifier)"].map { unsafe open("/proc/\($0)/ns/net", O_RDONLY | O_CLOEXEC) }
    defer { for network in networks { close(network) } }
    enterNetwork(networks[1])
    defer { enterNetwork(networks[0]) }
    return try body()
  }

  func engine(_ members: [Int], _ purpose: EngineAddress.Purpose = .existing, milliseconds: Int = 10_000) throws -> EtcdEngine {
    try EtcdEngine(
      members.map(Self.endpoint), files["ada"], space: Self.space, purpose, connectMilliseconds: milliseconds,
      callMilliseconds: milliseconds)
  }

  /// The member that leads, when it and all others say so.
  func leader() throws -> Int {
    while true {
      let answers = try Self.members.map { member in try persistent { try status(of: member) } }
      if let index = answers.firstIndex(where: { $0.own == $0.leader }), answers.allSatisfy({ $0.leader == answers[index].own }) {
        return index + 1
      }
      usleep(100_000)
    }
  }

  /// Two fields of `StatusResponse`: the member that answers, in its header, and the one that it follows.
  private func status(of member: Int) throws -> (own: UInt64, leader: UInt64) {
    let connection = try EtcdConnection(
      [Self.endpoint(member)], files["ada"], connectMilliseconds: 10_000, callMilliseconds: 10_000)
    var status: (own: UInt64, leader: UInt64) = (0, 0)
    func read(_ bytes: ArraySlice<UInt8>, _ take: (UInt64, MessageReader.Value) throws -> Void) throws {
      var reader = MessageReader(bytes)
      while let (field, value) = try reader.next() { try take(field, value) }
    }
    try read(connection.call("Maintenance/Status", []) { $0 }) { field, value in
      switch (field, value) {
      case (1, .data(let header)):
        try read(header) { field, value in
          if field == 2, case .integer(let identifier) = value { status.own = identifier }
        }
      case (4, .integer(let identifier)): status.leader = identifier
      default: break
      }
    }
    return status
  }
}

/// Tries again as long as no member answers.
func persistent<Result>(_ body: () throws -> Result) throws -> Result {
  for _ in 0..<1200 {
    do { return try body() } catch FileError(.io) { usleep(100_000) }
  }
  return try body()
}

/// One cluster for the tests of a suite.
struct SharedCluster: SuiteTrait, TestScoping {
  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await Cluster.$shared.withValue(Cluster(), operation: function)
  }
}
