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
        let detail = FileError(errno: errno, path).detail
        throw FileError(.toolFailed, "\(detail): ca.pem, cert.pem and key.pem belong there")
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

  /// As `2025-01-03`, in UTC.
  static func day(_ seconds: Int64) -> String? {
    var (seconds, parts) = unsafe (time_t(seconds), tm())
    guard unsafe gmtime_r(&seconds, &parts) != nil else { return nil }
    let (year, month, day) = unsafe (parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday)
    return "\(year)-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)"
  }

  /// The reason for which a server refuses the certificate of this user, if its time is over: a server says no reason.
  var expiry: String? {
    guard let end = try? end(), Int64(time(nil)) > end, let day = Self.day(end) else { return nil }
    return "the certificate of this user has expired on \(day): \(certificate) needs a new one"
  }
}

/// Calls of gRPC to the members of one cluster, of which one after the other is tried.
@safe final class EtcdConnection {
  /// In bytes, of an answer: a batch, and what etcd adds to it.
  static let answerLimit = 12 << 20
  /// In bytes, of a request: what etcd takes if nothing else is set. The longest object is a third shorter.
  private static let requestLimit = 3 << 19
  /// In milliseconds, for the connection to one of several members at first. All of them together get half of the time at most.
  private static let shortConnect = 2500
  private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  private let endpoints: [String]
  private let certificates: EtcdCertificates
  private let milliseconds: (connect: Int, call: Int)
  /// The prefix of the keys to which the user needs a right.
  private let prefix: String
  private var current = 0
  /// The handle of libcurl keeps the connection.
  private let handle: UnsafeMutableRawPointer

  init(
    _ endpoints: [String], _ certificates: EtcdCertificates, prefix: String = "", connectMilliseconds: Int, callMilliseconds: Int
  ) throws(FileError) {
    (self.endpoints, self.certificates, self.prefix) = (endpoints, certificates, prefix)
    milliseconds = (connectMilliseconds, callMilliseconds)
    guard Self.isReady, let handle = unsafe certificates.handle(connectMilliseconds, callMilliseconds) else {
      throw FileError(.toolFailed, "libcurl cannot be used")
    }
    unsafe self.handle = handle
  }

  deinit { unsafe curl_easy_cleanup(handle) }

  /// - Parameters:
  ///   - method: As `KV/Range`.
  ///   - read: Reads the message of the answer.
  /// - Throws: `io` if no member answers, `accessDenied`, `full`, `tooLarge`, `toolFailed`.
  func call<Answer>(
    _ method: String, _ request: [UInt8], _ read: (ArraySlice<UInt8>) throws(MessageReader.Malformed) -> Answer
  ) throws(FileError) -> Answer {
    guard request.count <= Self.requestLimit else { throw FileError(.tooLarge, "a request of \(request.count) bytes") }
    var failures = MemberFailures(endpoints)
    func answer(within limit: Int) throws(FileError) -> Answer? {
      do { return try attempt(method, request, read, connectMilliseconds: limit) } catch {
        // Repeating is harmless: a writer reads afterwards.
        if case .call(let error) = error { throw error }
        failures.note(error, of: current)
        return nil
      }
    }
    let short = min(Self.shortConnect, milliseconds.connect / (2 * endpoints.count))
    for _ in endpoints {
      if let answer = try answer(within: endpoints.count > 1 ? short : milliseconds.connect) { return answer }
      current = (current + 1) % endpoints.count
    }
    // The connection may be slow to each member: one of those that were late gets the rest of the time. Any of them, because a member
    // that is gone would take it in each call.
    let late = failures.late
    if endpoints.count > 1, let index = late.randomElement() {
      current = index
      if let answer = try answer(within: milliseconds.connect - short * late.count) { return answer }
    }
    throw failures.error
  }

  func call(_ method: String, _ request: [UInt8]) throws(FileError) { try call(method, request) { _ in } }

  /// First of the member that has answered last.
  func watch(_ key: [UInt8], to end: [UInt8]) -> EtcdWatch? {
    EtcdWatch(
      Array(endpoints[current...] + endpoints[..<current]), certificates, EtcdRequest.watch(key, to: end),
      connectMilliseconds: milliseconds.connect, callMilliseconds: milliseconds.call)
  }

  /// One call to the current member.
  private func attempt<Answer>(
    _ method: String, _ request: [UInt8], _ read: (ArraySlice<UInt8>) throws(MessageReader.Malformed) -> Answer,
    connectMilliseconds: Int
  ) throws(CallFailure) -> Answer {
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
      handle, "https://\(endpoint)/etcdserverpb.\(method)", connectMilliseconds, frame, frame.count, &headers, &body, &message)
    let text = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard code == CURLE_OK else {
      let isConnected = unsafe coffer_curl_is_connected(handle) != 0
      let isNew = unsafe headers.count == 0 && coffer_curl_has_connected(handle) != 0
      throw CallFailure(
        code, text, unsafe coffer_curl_errno(handle), of: endpoint, isConnected: isConnected, isNew: isNew, certificates)
    }
    let status = unsafe GRPCStatus(headers: Array(UnsafeBufferPointer(start: headers.bytes, count: headers.count)))
    if let failure = status.failure(of: endpoint, below: prefix) { throw failure }
    guard let answer = unsafe Self.message(Array(UnsafeBufferPointer(start: body.bytes, count: body.count))) else {
      throw .malformed
    }
    do { return try read(answer) } catch { throw .malformed }
  }

  static func frame(_ message: [UInt8]) -> [UInt8] {
    let length = UInt32(message.count)
    return [0] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + message
  }

  /// One frame, not compressed: a byte 0, a length of 4 bytes, the message.
  /// - Returns: nil for another form.
  static func message(_ frame: [UInt8]) -> ArraySlice<UInt8>? {
    guard frame.count >= 5, frame[0] == 0, frame[1..<5].reduce(0, { $0 << 8 | Int($1) }) == frame.count - 5 else {
      return nil
    }
    return frame[5...]
  }

  static var malformed: FileError { FileError(.toolFailed, CallFailure.malformedReason) }
}
