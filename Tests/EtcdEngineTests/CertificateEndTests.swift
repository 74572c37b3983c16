import Children
import Glibc
import Testing

@testable import EtcdEngine

@Suite struct CertificateEndTests {
  private static func certificate(_ days: Int) -> [String] {
    run(
      "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "\(days)", "-subj",
      "/CN=ada", "-keyout", "/dev/null", "-out", "/dev/stdout")
  }

  /// The year 2050 and later are written in another form.
  @Test(arguments: [1, 100, 10_000, 40_000]) func theEndIsThatOfOpenSSL(days: Int) throws {
    let lines = Self.certificate(days)
    let before = Int64(time(nil))
    let end = try #require(EtcdCertificates.end(ofPEM: Array(lines.joined(separator: "\n").utf8)))
    #expect(abs(end - before - Int64(days) * 86_400) < 3600)
    // Other blocks and lines stand before it.
    #expect(EtcdCertificates.end(ofPEM: Array((["text", ""] + lines).joined(separator: "\r\n").utf8)) == end)
  }

  @Test func aDayHasTwoDigits() {
    #expect(EtcdCertificates.day(1_735_862_400) == "2025-01-03" && EtcdCertificates.day(1_762_905_600) == "2025-11-12")
  }

  @Test func anotherFormHasNoEnd() {
    let text = Array(Self.certificate(1).joined(separator: "\n").utf8)
    for bytes in [[], Array("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----".utf8), Array(text.dropFirst(4))] {
      #expect(EtcdCertificates.end(ofPEM: bytes) == nil)
    }
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      var bytes = text
      bytes[Int.random(in: 28..<bytes.count - 28, using: &generator)] = Array("ABCxyz019+/=".utf8).randomElement() ?? 0
      // No trap.
      _ = EtcdCertificates.end(ofPEM: bytes)
    }
  }
}
