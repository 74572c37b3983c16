import CofferFiles
import CofferStorage
import ForeignFormats

/// A private key of ssh without a passphrase, which `coffer-ssh-agent` has after a move.
enum SSHFindings {
  static func findings(of text: SourceText, in place: SweepPlace) -> [SweepFinding] {
    let lines = text.lines()
    guard let first = lines.first, isHeader(text.text(first.prefix(80))), !isEncrypted(text, lines) else { return [] }
    let name = Path.name(of: place.path)
    return [
      SweepFinding(
        line: 1, rule: "private-key", name: name, way: obstacle(name, place).map { .none($0) } ?? .sshAgent, item: nil)
    ]
  }

  private static let begin = "-----BEGIN "

  private static func isHeader(_ line: String) -> Bool {
    line.hasPrefix(begin) && line.contains("PRIVATE KEY-----")
  }

  /// By the first bytes of the file, which are no part of a secret. A file that cannot be read is none.
  static func isPrivateKey(at path: String) -> Bool {
    guard let file = try? OpenFile.open(path, FileAttributes.readOnly) else { return false }
    return (try? file.read(upTo: begin.utf8.count)) == Array(begin.utf8)
  }

  /// By the header of PEM and PKCS #8, or the cipher of OpenSSH's own form.
  private static func isEncrypted(_ text: SourceText, _ lines: [Range<Int>]) -> Bool {
    let head = lines.prefix(3).map { text.text($0.prefix(80)) }
    if head[0].contains("ENCRYPTED") || head.contains(where: { $0.hasPrefix("Proc-Type:") && $0.contains("ENCRYPTED") }) {
      return true
    }
    guard head[0].contains("OPENSSH"), head.count > 1 else { return false }
    // "openssh-key-v1", a zero byte, and the name of the cipher with its length: the cipher "none".
    return !head[1].hasPrefix("b3BlbnNzaC1rZXktdjEAAAAABG5vbmU")
  }

  /// The socket of `coffer-ssh-agent`. Another agent may have the key of the file.
  static var socket: String? { (try? Places(environment: { Environment[$0] }).sshAgentSocket).flatMap(Path.resolved) }

  private static func obstacle(_ name: String, _ place: SweepPlace) -> String? {
    guard place.kind == .privateKey else { return "coffer ssh add keeps it, if it is a key of ssh" }
    if (try? SSHKeys.name(name)) == nil { return "a key of the vault takes another name: coffer ssh add --name" }
    if (try? Files<FileError>.status(at: "\(place.path)-cert.pub")) != nil {
      return "it has a certificate: coffer ssh add keeps both"
    }
    guard let asked = Environment["SSH_AUTH_SOCK"].flatMap(Path.resolved), asked == socket else {
      return "ssh does not ask coffer-ssh-agent; ssh-keygen -p gives the key a passphrase"
    }
    return CalledName.isInstalled("ssh-add") ? nil : "ssh-add is not in PATH"
  }
}
