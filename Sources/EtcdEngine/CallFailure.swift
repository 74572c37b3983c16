import CCurl
import CofferFiles

/// Why a call was not carried out.
enum CallFailure: Error {
  /// An error of one member, in words that do not name it: another one may carry the call out.
  case member(FileError.Code, String)
  /// One member has not made the connection in its time.
  case late
  /// An error of the user, of the cluster or of the request, which each member has.
  case call(FileError)

  var code: FileError.Code {
    switch self {
    case .member(let code, _): code
    case .late: .io
    case .call(let error): error.code
    }
  }

  /// In words.
  var reason: String {
    switch self {
    case .member(_, let reason): reason
    case .late: Self.lateReason
    case .call(let error): error.detail
    }
  }

  private static let lateReason = "no answer in time"
  static let malformedReason = "answers in another form than etcd"
  static var malformed: CallFailure { .member(.toolFailed, malformedReason) }

  /// - Parameters:
  ///   - code: The one of libcurl, with its text.
  ///   - number: The one of the system, or 0.
  ///   - isConnected: Whether the request could be sent.
  ///   - isNew: Whether the connection was made for this call, and has brought nothing.
  init(
    _ code: CURLcode, _ text: String, _ number: Int32, of endpoint: String, isConnected: Bool, isNew: Bool,
    _ certificates: EtcdCertificates
  ) {
    func unusable(_ reason: String) -> CallFailure {
      .call(FileError(.accessDenied, "the files of the certificate cannot be used: \(reason)"))
    }
    self =
      switch code {
      case CURLE_WRITE_ERROR: .call(FileError(.tooLarge, "the answer of \(endpoint): \(text)"))
      case CURLE_OUT_OF_MEMORY: .call(FileError(.outOfMemory, text))
      case CURLE_SSL_CERTPROBLEM where text.contains("private key"):
        unusable("the key is not the one of cert.pem, or it has a passphrase: \(certificates.key)")
      case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE:
        unusable(text)
      // It is of another authority, of another host, or expired.
      case CURLE_PEER_FAILED_VERIFICATION: .member(.accessDenied, "the certificate of the server is refused: \(text)")
      case CURLE_COULDNT_RESOLVE_HOST: .member(.io, text)
      // The text of libcurl has an address and milliseconds, so that each member would have a reason of its own.
      case CURLE_COULDNT_CONNECT: .member(.io, "no connection\(number == 0 ? "" : " (\(ErrorNumber.text(of: number)))")")
      case CURLE_OPERATION_TIMEDOUT: isConnected ? .member(.io, Self.lateReason) : .late
      // Anybody can send such an alert in clear text, and another member may have another authority: the next one is tried.
      case _ where Self.isRefusal(text):
        .member(.accessDenied, certificates.expiry ?? "the server refuses the certificate of this user: \(text)")
      case CURLE_SSL_CONNECT_ERROR where text.contains("wrong version number"):
        .member(.toolFailed, "the server does not speak TLS at this address")
      // With TLS 1.3 a server refuses a certificate after the handshake. The end of the connection may overtake the reason.
      case _ where isNew:
        if let expiry = certificates.expiry {
          .member(.accessDenied, expiry)
        } else if isConnected || text.contains("routines:") {
          .member(.io, "the server ends, or refuses the certificate of this user: \(text)")
        } else {
          // The handshake ends without a reason: the text of libcurl has only an address.
          .member(.io, "the server does not speak TLS at this address, or refuses the certificate of this user")
        }
      default: .member(.io, text)
      }
  }

  /// Whether it has an alert of TLS about the certificate of the user, and none about the protocol.
  private static func isRefusal(_ text: String) -> Bool {
    guard let alert = text.firstRange(of: "alert") else { return false }
    return ["certificate", "unknown ca", "access denied"].contains { text[alert.upperBound...].contains($0) }
  }
}

/// The failures of the members of a cluster.
struct MemberFailures {
  private let endpoints: [String]
  private var failures: [CallFailure?]

  init(_ endpoints: [String]) { (self.endpoints, failures) = (endpoints, Array(repeating: nil, count: endpoints.count)) }

  /// Those that have not made the connection in their time.
  var late: [Int] { failures.indices.filter { if case .late? = failures[$0] { true } else { false } } }

  mutating func note(_ failure: CallFailure, of index: Int) { failures[index] = failure }

  /// One error, which names all members, those with one reason together.
  var error: FileError {
    var groups: [(reason: String, endpoints: [String])] = []
    for (endpoint, failure) in zip(endpoints, failures) {
      guard let failure else { continue }
      if let index = groups.firstIndex(where: { $0.reason == failure.reason }) {
        groups[index].endpoints.append(endpoint)
      } else {
        groups.append((failure.reason, [endpoint]))
      }
    }
    let codes = failures.compactMap { $0?.code }
    let text = groups.map { "\($0.endpoints.joined(separator: ", ")): \($0.reason)" }.joined(separator: "; ")
    // A later call may find it repaired, if this is so for one of them.
    let code = codes.contains(.io) ? .io : codes.first ?? .io
    return FileError(code, endpoints.count > 1 ? "no member of the cluster can be used: \(text)" : text)
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

  /// - Parameter prefix: The one of the keys to which the user needs a right.
  /// - Returns: nil if the call was done.
  func failure(of endpoint: String, below prefix: String = "") -> CallFailure? {
    let text = "\(endpoint): \(message)"
    return switch code {
    case 0: nil
    case nil: .member(.toolFailed, "no server of etcd answers")
    case 3 where message.contains("too large"): .call(FileError(.tooLarge, text))
    case 8 where message.contains("larger than max"): .call(FileError(.tooLarge, text))
    case 7, 16:
      .call(
        FileError(
          .accessDenied, "the role of this user at the engine does not allow it: it needs readwrite for \(prefix): \(text)"))
    // The role was changed, and this member has not heard of it.
    case 3 where message.contains("revision of auth store"): .member(.io, message)
    case 8 where message.contains("too many requests"): .member(.io, message)
    case 8: .call(FileError(.full, "the engine has no space left: \(text)"))
    case 4, 14: .member(.io, "no majority of the members, or no leader (\(message))")
    default: .member(.toolFailed, message)
    }
  }
}
