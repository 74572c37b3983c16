import ArgumentParser
import CofferConsole
import CofferFiles
import CofferStorage
import OpenSSHAgent

struct SSHConfig: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Print a part of ssh's configuration: which key is for which host.",
    discussion: """
      A server counts each key that is offered as an attempt to log in, and most end the connection after six. With this, ssh offers a \
      host the keys that coffer ssh add --host has named for it, and no others.
      """)

  @OptionGroup var options: SSHOptions

  func run() throws {
    let keys = try options.open()
    var isComplete = true
    let found = try keys.all(isComplete: &isComplete)
    keys.items.finish()
    let socket = try Self.word(Places(environment: { Environment[$0] }).sshAgentSocket)
    var text = ""
    for key in found where !key.hosts.isEmpty {
      // Another program may have changed the attribute, and a line of its own would be an option of ssh.
      guard key.hosts.allSatisfy(HostPattern.isOne) else {
        throw Failure(
          .other, "\(key.name): one of its hosts is not a pattern of ssh_config(5)",
          hint: "coffer ssh add --update --host PATTERN")
      }
      text += """
        Host \(key.hosts.joined(separator: " "))
          IdentityAgent \(socket)
          IdentityFile \(try Self.word(keys.files.path(of: key.name)))
          IdentitiesOnly yes

        """
    }
    try Descriptor.output.write(text)
  }

  /// As ssh_config(5) reads a path: quoted, and without its placeholders.
  private static func word(_ path: String) throws(Failure) -> String {
    guard path == path.escapingControls(), !path.contains(where: { #""\$"#.contains($0) }) else {
      throw Failure(.other, "\(path): the configuration of ssh has no way to write this path")
    }
    return "\"\(path.replacing("%", with: "%%"))\""
  }
}
