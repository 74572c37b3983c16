import Foundation
import Testing

/// A signed app whose executables are programs of this package, in a workspace with a vault.
final class SwiftApp {
  let workspace: Workspace
  let identifier: String
  let option: String

  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// - Parameters:
  ///   - draft: The manifest; a file of the package, or its text.
  ///   - isSandboxed: The sandbox shows the system's libraries and no others. So those of the toolchain, which the tests are linked
  ///     to, are executables of the app; an app that somebody gives away is built with them inside.
  init(_ identifier: String, programs: [String], draft: String, isSandboxed: Bool) throws {
    workspace = try Workspace()
    self.identifier = identifier
    option = isSandboxed ? "" : "--no-sandbox"
    let isFile = draft.hasSuffix(".plist")
    let text = isFile ? try String(contentsOf: Self.root.appending(path: draft), encoding: .utf8) : draft
    try text.write(toFile: "\(workspace.path)/draft", atomically: false, encoding: .utf8)
    let outcome = try workspace.run(
      script: """
        set -e; umask 077
        head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase; coffer app keygen team.key >team
        mkdir app
        for program in \(programs.joined(separator: " ")); do
          cp "$(command -v $program)" app/
          ldd app/$program | sed -n 's/.*=> \\([^ ]*\\) .*/\\1/p' | grep -v '^/lib\\|^/usr' >>libraries || true
        done
        if [ -z "\(option)" ]; then
          for library in $(sort -u libraries); do
            cp "$library" app/; echo "{ Path = \\"$(basename "$library")\\"; Role = tool; }," >>entries
          done
          [ ! -e entries ] || sed -i '/Executables = (/r entries' draft
        fi
        cp draft app/; coffer app sign app/draft --key team.key >app/signed
        coffer app install app/signed --key-file key
        """)
    try #require(outcome.status == 0, "\(outcome.errors)")
  }

  /// A program of the app, as `coffer app run` starts it.
  func command(_ executable: String, _ arguments: String = "") -> String {
    "coffer app run \(identifier) --executable \(executable) \(option) -- \(arguments)"
  }

  func run(_ executable: String, _ arguments: String = "") throws -> Outcome {
    try workspace.run(script: command(executable, arguments))
  }
}
