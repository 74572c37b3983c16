import CLinux
import Foundation
import Testing

@testable import Coffer

/// Whom a client tells a passphrase.
@Suite(.enabled(if: geteuid() == 0, "only the superuser makes files of others")) struct SystemSocketTests {
  @Test func aSocketThatOthersCouldHavePutThereIsToldNothing() throws {
    let top = "/opt/coffer-socket-\(UUID().uuidString.prefix(8))"
    let directory = "\(top)/run"
    for path in [top, directory] { #expect(unsafe mkdir(path, 0o755) == 0) }
    defer { try? FileManager.default.removeItem(atPath: top) }
    let path = "\(directory)/agent.sock"
    let listener = coffer_local_socket()
    defer { close(listener) }
    #expect(unsafe coffer_local_name(listener, path, 1) == 0 && listen(listener, 16) == 0)
    func connects() -> Bool { (try? AgentSocket(path: path, isOfSystem: true).connected()) != nil }
    #expect(connects())
    for changed in [top, directory] {
      unsafe chmod(changed, 0o775)
      #expect(!connects(), "\(changed) is the group's too")
      unsafe chmod(changed, 0o755)
      unsafe chown(changed, 62_001, 0)
      #expect(!connects(), "\(changed) is another's")
      unsafe chown(changed, 0, 0)
    }
    #expect(connects())
    // Nor through a link that leads to another directory.
    #expect(unsafe rename(directory, "\(top)/other") == 0 && symlink("other", directory) == 0)
    #expect(!connects())
  }
}
