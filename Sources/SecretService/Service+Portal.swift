import CLinux
import Coffer
import CofferFiles
import Glibc
import MessageBus
import SecretMemory
import VaultCore

/// The portal's backend: each app of a sandbox has a key, by which libsecret in the sandbox encrypts a file of the app.
extension Service {
  /// The program that tells which app asks.
  package static let portalName = "org.freedesktop.portal.Desktop"

  /// An error comes within 50 ms also with these.
  static let portalMilliseconds: UInt64 = 30

  private enum Response {
    static let success: UInt32 = 0
    static let cancelled: UInt32 = 1
  }

  /// Before the call waits for anything.
  /// - Throws: `BusError`: `accessDenied` for others than the portal, such as an app that reaches this service from its sandbox: it would
  ///   name another app.
  func prepare(_ invocation: Invocation) throws(BusError) {
    guard invocation.method.name == Interface.retrieve, case .path(let handle)? = invocation.arguments.first else { return }
    guard invocation.isPortal else { throw .accessDenied("only the program with the name \(Self.portalName) is served") }
    guard case .portalRequest? = ObjectPath(handle), state.add(request: invocation.number, at: handle, of: invocation.sender)
    else { throw .invalidArguments("the path of the request") }
  }

  /// libsecret before 0.21 begins to listen for the portal's answer after the reply to its call, and waits for ever if it has missed it.
  /// The portal answers when this call is answered, so this takes a while.
  func retrieveSecret(_ invocation: Invocation, _ store: ItemStore) throws -> [Value] {
    guard case .text(let app) = invocation.arguments[1], case .descriptor(let descriptor) = invocation.arguments[2],
      AppKey.isApp(app)
    else { throw BusError.invalidArguments("the name of the app") }
    let key = try sealed(store) { Value.Bytes(try store.keychain.appKey(app)) }
    guard state.hasRequest(invocation.number) else { throw BusError.failed("the request was closed") }
    try descriptor.write(key.secret)
    return [.word(Response.success), .properties([])]
  }

  func closeRequest(_ path: String, _ invocation: Invocation) throws -> [Value] {
    guard let number = state.closeRequest(at: path, of: invocation.sender) else { throw BusError.noSuchObject }
    outbox.reply(to: number, .success([.word(Response.cancelled), .properties([])]))
    return []
  }
}

extension Value.Descriptor {
  /// Writes a few bytes at once or not at all. The app may never read, and may change the flags of the descriptor, which it shares: so the
  /// write waits in no case.
  /// - Throws: `BusError` if it is neither a pipe nor a socket, or takes nothing.
  fileprivate func write(_ secret: borrowing Secret) throws(BusError) {
    var status = stat()
    guard unsafe fstat(descriptor.number, &status) == 0 else { throw .failed("the descriptor of the app") }
    let kind = status.st_mode & S_IFMT
    guard kind == S_IFIFO || kind == S_IFSOCK else { throw .invalidArguments("the descriptor is neither a pipe nor a socket") }
    let written = secret.withBytes { span in
      unsafe span.withUnsafeBytes { bytes in
        unsafe kind == S_IFIFO
          ? coffer_write_to_pipe(descriptor.number, bytes.baseAddress, UInt(bytes.count))
          : coffer_send(descriptor.number, bytes.baseAddress, UInt(bytes.count))
      }
    }
    guard written == secret.count else { throw .failed("the descriptor of the app takes nothing") }
  }
}
