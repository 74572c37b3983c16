import CCurl
package import CofferFiles
import Glibc

/// The files of the connection: the authority that the servers have, and what this user shows them.
package struct EtcdCertificates: Sendable {
  let authority: String
  let certificate: String
  let key: String

  /// - Parameter directory: Has `ca.pem`, `cert.pem` and `key.pem`.
  /// - Throws: `notAFile`; `toolFailed` if one is not there, if another user could have written it, or if the key is not this user's
  ///   alone.
  package init(in directory: String) throws(FileError) {
    (authority, certificate, key) = ("\(directory)/ca.pem", "\(directory)/cert.pem", "\(directory)/key.pem")
    for path in [authority, certificate, key, directory] {
      var status = stat()
      guard unsafe stat(path, &status) == 0 else {
        // Not `missing`, which says that the log is not there.
        throw FileError(.toolFailed, FileError(errno: errno, path).detail)
      }
      guard status.st_mode & S_IFMT == (path == directory ? S_IFDIR : S_IFREG) else { throw FileError(.notAFile, path) }
      // Root may keep the authority for all users.
      guard status.st_uid == geteuid() || (status.st_uid == 0 && path != key) else {
        throw FileError(.toolFailed, "\(path) belongs to another user")
      }
      guard status.st_mode & 0o002 == 0 else { throw FileError(.toolFailed, "others may write \(path): chmod o-w") }
      guard path == key else { continue }
      guard status.st_mode & 0o077 == 0 else { throw FileError(.toolFailed, "others may use \(path): chmod 600") }
    }
  }

  /// - Parameter call: 0 for a call without an end.
  /// - Returns: nil if libcurl has no memory, or cannot do it.
  func handle(_ connect: Int, _ call: Int) -> UnsafeMutableRawPointer? {
    unsafe coffer_curl_make(authority, certificate, key, connect, call)
  }

  /// The reason for which a server refuses the certificate of this user, if its time is over: a server says no reason.
  fileprivate var refusal: FileError? {
    guard let end = try? end(), Int64(time(nil)) > end else { return nil }
    var (seconds, parts) = unsafe (time_t(end), tm())
    guard unsafe gmtime_r(&seconds, &parts) != nil else { return nil }
    let day = unsafe "\(parts.tm_year + 1900)-\(parts.tm_mon + 1)-\(parts.tm_mday)"
    return FileError(.accessDenied, "the certificate of this user has expired on \(day): \(certificate)")
  }
}

/// Calls of gRPC to the members of one cluster, of which one after the other is tried.
@safe final class EtcdConnection {
  /// In bytes, of an answer: a batch, and what etcd adds to it.
  static let answerLimit = 12 << 20
  /// In bytes, of a request: what etcd takes if nothing else is set. The longest object is a third shorter.
  private static let requestLimit = 3 << 19
  private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  private let endpoints: [String]
  private let certificates: EtcdCertificates
  private let milliseconds: (connect: Int, call: Int)
  private var current = 0
  /// The handle of libcurl keeps the connection.
  private let handle: UnsafeMutableRawPointer

  init(
    _ endpoints: [String], _ certificates: EtcdCertificates, connectMilliseconds: Int, callMilliseconds: Int
  ) throws(FileError) {
    (self.endpoints, self.certificates) = (endpoints, certificates)
    milliseconds = (connectMilliseconds, callMilliseconds)
    guard Self.isReady, let handle = unsafe certificates.handle(connectMilliseconds, callMilliseconds) else {
      throw FileError(.toolFailed, "libcurl cannot be used")
    }
    unsafe self.handle = handle
  }

  deinit { unsafe curl_easy_cleanup(handle) }

  /// - Parameter method: As `KV/Range`.
  /// - Returns: The message of the answer.
  /// - Throws: `io` if no member answers, `accessDenied`, `full`, `tooLarge`, `toolFailed`.
  func call(_ method: String, _ request: [UInt8]) throws(FileError) -> ArraySlice<UInt8> {
    guard request.count <= Self.requestLimit else { throw FileError(.tooLarge, "a request of \(request.count) bytes") }
    var last = FileError(.io, "there is no endpoint")
    for _ in endpoints {
      do {
        return try attempt(method, request)
      } catch {
        // A member that is cut off says so, or nothing. Repeating is harmless: a writer reads afterwards.
        guard error.code == .io else { throw error }
        last = error
        current = (current + 1) % endpoints.count
      }
    }
    throw last
  }

  /// First of the member that has answered last.
  func watch(_ key: [UInt8], to end: [UInt8]) -> EtcdWatch? {
    EtcdWatch(
      Array(endpoints[current...] + endpoints[..<current]), certificates, EtcdRequest.watch(key, to: end),
      connectMilliseconds: milliseconds.connect, callMilliseconds: milliseconds.call)
  }

  private func attempt(_ method: String, _ request: [UInt8]) throws(FileError) -> ArraySlice<UInt8> {
    let endpoint = endpoints[current]
    let frame = Self.frame(request)
    var headers = unsafe coffer_curl_buffer(bytes: nil, count: 0, capacity: 0, limit: 1 << 16)
    var body = unsafe coffer_curl_buffer(bytes: nil, count: 0, capacity: 0, limit: Self.answerLimit)
    defer {
      unsafe free(headers.bytes)
      unsafe free(body.bytes)
    }
    var message = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))
    let code = unsafe coffer_curl_call(
      handle, "https://\(endpoint)/etcdserverpb.\(method)", frame, frame.count, &headers, &body, &message)
    let text = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard code == CURLE_OK else {
      let isNew = unsafe headers.count == 0 && coffer_curl_has_connected(handle) != 0
      throw failure(code, "\(endpoint): \(text)", isNew: isNew)
    }
    let status = unsafe GRPCStatus(headers: Array(UnsafeBufferPointer(start: headers.bytes, count: headers.count)))
    if let error = status.error(endpoint) { throw error }
    return try Self.message(unsafe Array(UnsafeBufferPointer(start: body.bytes, count: body.count)))
  }

  static func frame(_ message: [UInt8]) -> [UInt8] {
    let length = UInt32(message.count)
    return [0] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + message
  }

  /// One frame, not compressed: a byte 0, a length of 4 bytes, the message.
  static func message(_ frame: [UInt8]) throws(FileError) -> ArraySlice<UInt8> {
    guard frame.count >= 5, frame[0] == 0, frame[1..<5].reduce(0, { $0 << 8 | Int($1) }) == frame.count - 5 else {
      throw malformed
    }
    return frame[5...]
  }

  static var malformed: FileError { FileError(.toolFailed, "answers in another form than etcd") }

  /// - Parameter isNew: Whether the connection was made for this call, and has brought nothing.
  private func failure(_ code: CURLcode, _ text: String, isNew: Bool) -> FileError {
    switch code {
    case CURLE_WRITE_ERROR: FileError(.tooLarge, "the answer of \(text)")
    case CURLE_OUT_OF_MEMORY: FileError(.outOfMemory, text)
    // The one of the server, if it is of another authority, of another host, or expired.
    case CURLE_PEER_FAILED_VERIFICATION: FileError(.accessDenied, "the certificate of the server is refused: \(text)")
    case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE:
      FileError(.accessDenied, "the files of the certificate cannot be used: \(text)")
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_OPERATION_TIMEDOUT: FileError(.io, text)
    case _ where text.contains("alert"):
      certificates.refusal ?? FileError(.accessDenied, "the server refuses the certificate of this user: \(text)")
    // With TLS 1.3 a server refuses a certificate after the handshake. The end of the connection may overtake the reason.
    case _ where isNew:
      certificates.refusal ?? FileError(.io, "the server ends, or refuses the certificate of this user: \(text)")
    default: FileError(.io, text)
    }
  }
}

/// The outcome of a call, from the trailers of its answer.
struct GRPCStatus {
  private(set) var code: Int?
  private(set) var message = ""

  init(headers: [UInt8]) {
    for line in headers.split(separator: UInt8(ascii: "\n")) {
      // Printable ASCII: the rest is encoded by its rules.
      let text = String(decoding: line.filter { (0x20..<0x7F).contains($0) }.prefix(300), as: UTF8.self)
      guard let colon = text.firstIndex(of: ":") else { continue }
      let value = String(text[text.index(after: colon)...].drop { $0 == " " })
      switch text[..<colon].lowercased() {
      case "grpc-status": code = Int(value)
      case "grpc-message": message = value
      default: break
      }
    }
  }

  /// - Returns: nil if the call was done.
  func error(_ endpoint: String) -> FileError? {
    let text = "\(endpoint): \(message)"
    return switch code {
    case 0: nil
    case nil: FileError(.toolFailed, "no server of etcd answers: \(endpoint)")
    case 3 where message.contains("too large"): FileError(.tooLarge, text)
    case 8 where message.contains("larger than max"): FileError(.tooLarge, text)
    case 7, 16: FileError(.accessDenied, "the role of this user at the engine does not allow it: \(text)")
    // The role was changed, and this member has not heard of it.
    case 3 where message.contains("revision of auth store"): FileError(.io, text)
    case 8 where message.contains("too many requests"): FileError(.io, text)
    case 8: FileError(.full, "the engine has no space left: \(text)")
    case 4, 14: FileError(.io, text)
    default: FileError(.toolFailed, text)
    }
  }
}
