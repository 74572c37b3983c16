import Children
import Glibc

@testable import EtcdEngine

/// A directory with the certificates of a test: an authority `ca`, and directories as clients have them. It ends with this object.
final class Certificates {
  let root: String

  /// - Parameter addresses: Those of the servers, which have one certificate.
  init(for addresses: [String] = ["DNS:localhost", "IP:127.0.0.1"]) {
    var template = Array("/tmp/coffer-etcd-XXXXXX".utf8CString)
    precondition(unsafe mkdtemp(&template) != nil)
    root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    authority("ca")
    issue("server", by: "ca", for: addresses)
    issue("ada", by: "ca")
  }

  deinit { run("rm", "-rf", root) }

  subscript(user: String) -> EtcdCertificates { get throws { try EtcdCertificates(in: "\(root)/\(user)") } }

  func authority(_ name: String) {
    shell(
      """
      mkdir \(name) && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 100 -subj /CN=\(name) \
      -keyout \(name)/key.pem -out \(name)/ca.pem
      """)
  }

  /// A directory as a client has it.
  func issue(_ name: String, by authority: String, for addresses: [String] = ["DNS:client"], days: Int = 100) {
    shell(
      """
      mkdir \(name) && openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=\(name) \
      -keyout \(name)/key.pem -out \(name)/request && chmod 600 \(name)/key.pem &&
      printf 'subjectAltName=\(addresses.joined(separator: ","))' > \(name)/names &&
      openssl x509 -req -in \(name)/request -CA \(authority)/ca.pem -CAkey \(authority)/key.pem -CAcreateserial \
      -days \(days) -extfile \(name)/names -out \(name)/cert.pem && cp ca/ca.pem \(name)/ca.pem
      """)
  }

  /// A server of TLS with this certificate, at an address of 127.0.0.1, which takes each connection, and answers what its
  /// process gets.
  func listen(_ name: String, _ application: String = "h2") -> (endpoint: String, child: Child) {
    let port = Server.freePort()
    let child = Child([
      "openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-alpn", application, "-cert", "\(root)/\(name)/cert.pem", "-key",
      "\(root)/\(name)/key.pem",
    ])
    while let line = child.line(), line != "ACCEPT" {}
    return ("localhost:\(port)", child)
  }

  func shell(_ commands: String) { run("sh", "-c", "cd \(root) && { \(commands); } 2>>errors") }
}
