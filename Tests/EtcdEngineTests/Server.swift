import Children
import CofferFiles
import CofferSync
import Glibc
import SyncEngines
import Testing
import VaultCore

@testable import EtcdEngine

/// A server of etcd for one test, which takes only clients with a certificate; it ends with this object.
final class Server {
  static let space = Identifier([UInt8](repeating: 7, count: 16)) ?? .zero

  let files = Certificates()
  let endpoint: String
  private let command: [String]
  private(set) var child: Child?

  init(_ options: String...) throws {
    let (client, peer) = (Self.freePort(), Self.freePort())
    endpoint = "localhost:\(client)"
    let root = files.root
    command =
      [
        "etcd", "--name", "n", "--data-dir", "\(root)/data", "--listen-client-urls", "https://127.0.0.1:\(client)",
        "--advertise-client-urls", "https://localhost:\(client)", "--listen-peer-urls", "http://127.0.0.1:\(peer)",
        "--initial-advertise-peer-urls", "http://127.0.0.1:\(peer)", "--initial-cluster", "n=http://127.0.0.1:\(peer)",
        "--client-cert-auth", "--trusted-ca-file", "\(root)/ca/ca.pem", "--cert-file", "\(root)/server/cert.pem", "--key-file",
        "\(root)/server/key.pem", "--logger", "zap", "--log-outputs", "\(root)/log",
      ] + options
    start()
  }

  // First the server, then its files.
  deinit { child = nil }

  func start() { child = Child(command) }

  /// Kills it.
  func stop() { child = nil }

  static func freePort() -> UInt16 {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        _ = unsafe bind(socket, address, size)
        _ = unsafe getsockname(socket, address, &size)
      }
    }
    return UInt16(bigEndian: address.sin_port)
  }

  // MARK: Engines

  func engine(
    _ purpose: EngineAddress.Purpose = .existing, as user: String = "ada", space: Identifier = Server.space,
    milliseconds: Int = 30_000
  ) throws -> EtcdEngine {
    try EtcdEngine(
      [endpoint], files[user], space: space, purpose, callMilliseconds: milliseconds)
  }

  /// An engine of the space when the server answers.
  func ready(_ purpose: EngineAddress.Purpose = .new) throws -> EtcdEngine {
    for _ in 0..<1200 {
      do { return try engine(purpose) } catch FileError(.io) { usleep(100_000) }
    }
    return try engine(purpose)
  }
}

func code(_ body: () throws -> Void) -> FileError.Code? {
  do { try body() } catch { return (error as? FileError)?.code }
  return nil
}

func detail(_ body: () throws -> Void) -> String {
  do { try body() } catch { return (error as? FileError)?.detail ?? "\(error)" }
  return ""
}
