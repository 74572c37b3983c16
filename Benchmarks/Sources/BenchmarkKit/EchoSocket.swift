import Glibc

/// An upper bound for an agent's speed: a thread per connection, which only sends back the bytes that it reads.
public enum EchoSocket {
  /// The size of a request for a secret and its response, in bytes.
  public static let byteCount = 104

  private static func address(_ path: String) -> sockaddr_un {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8).prefix($0.count - 1)) }
    return address
  }

  private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = address(path)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }

  public static func connect(_ path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard withAddress(path, { Glibc.connect(descriptor, $0, $1) }) == 0 else { throw BenchmarkError("connect: \(path)") }
    return descriptor
  }

  public static func ask(_ descriptor: Int32) throws {
    var buffer = [UInt8](repeating: 1, count: byteCount)
    guard send(descriptor, &buffer, byteCount, 0) == byteCount,
      recv(descriptor, &buffer, byteCount, Int32(MSG_WAITALL)) == byteCount
    else { throw BenchmarkError("echo") }
  }

  /// Serves until the process ends.
  public static func serve(_ path: String) throws {
    unlink(path)
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard withAddress(path, { bind(listener, $0, $1) }) == 0, listen(listener, 128) == 0 else {
      throw BenchmarkError("bind: \(path)")
    }
    Self.start {
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { continue }
        Self.start {
          var buffer = [UInt8](repeating: 0, count: byteCount)
          while recv(connection, &buffer, byteCount, Int32(MSG_WAITALL)) == byteCount,
            send(connection, &buffer, byteCount, 0) == byteCount
          {}
          close(connection)
        }
      }
    }
  }

  private final class Body {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
  }

  private static func start(_ run: @escaping () -> Void) {
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { argument in
        Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue().run()
        return nil
      }, Unmanaged.passRetained(Body(run)).toOpaque())
  }
}
