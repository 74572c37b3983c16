import CofferConsole
import CofferFiles
import CofferTesting
import Glibc
import SecretMemory
import Testing

@testable import CofferCommand

/// Another program changes a file between the look of a sweep and its replacement.
@Suite struct SweepRaceTests {
  private let workspace: Workspace
  private var file: String { "\(workspace.path)/file" }

  init() throws { workspace = try Workspace() }

  private func shell(_ script: String) throws {
    let outcome = try workspace.run(script: script)
    try #require(outcome.status == 0, "\(outcome.errors)")
  }

  /// Looks at `name`, has `change` done, and goes on.
  /// - Returns: the message of the failure.
  private func message(_ name: String, _ change: String) throws -> String? {
    try shell("rm -f third; printf old >file; printf old >second; ln -sf file link")
    let content = try ReadFile(at: "\(workspace.path)/\(name)")
    let replacement = try FileReplacement(of: content)
    try shell(change)
    do {
      try replacement.place(Secret(testing: "new"))
      return nil
    } catch {
      return Failure(error).message
    }
  }

  private func isLeft(_ name: String, _ change: String, _ contents: [String: String]) throws -> Bool {
    let message = try message(name, change)
    for (name, text) in contents where try Workspace.read("\(workspace.path)/\(name)") != text { return false }
    let left = try workspace.run(script: "ls -A | grep -c '[.]new$'").output
    return message?.hasSuffix(": another program has changed it at this moment") == true && left == "0\n"
  }

  @Test func aFileThatHasChangedStays() throws {
    #expect(try isLeft("file", "printf new- >file", ["file": "new-"]), "another content")
    #expect(try isLeft("file", "printf odd >file; touch -r second file", ["file": "odd"]), "another content of the same length")
    #expect(try isLeft("file", "mv second file", ["file": "old"]), "another file with the same content")
    #expect(try isLeft("file", "ln file third", ["file": "old", "third": "old"]), "a second name")
    #expect(try isLeft("file", "rm third; chmod 600 file", ["file": "old"]), "other permissions")
    #expect(try isLeft("file", "mv file moved; ln -s moved file", ["moved": "old"]), "a link to the file itself")
    #expect(try isLeft("file", "rm file; ln -s second file", ["second": "old"]), "a link in its place")
    #expect(try isLeft("file", "rm file; mkdir file", [:]), "a directory in its place")
    try shell("rmdir file")
    #expect(try isLeft("file", "rm file", ["second": "old"]), "no file")
  }

  @Test func aLinkThatHasBeenExchangedStays() throws {
    #expect(try isLeft("link", "ln -sf second link", ["file": "old", "second": "old"]), "another target")
    #expect(try isLeft("link", "mv file moved; ln -sf moved link", ["moved": "old"]), "the target with another name")
    #expect(try isLeft("link", "rm link; cp file link", ["file": "old", "link": "old"]), "a file in its place")
    #expect(try isLeft("link", "rm link", ["file": "old"]), "no link")
  }

  /// The control.
  @Test func aFileThatHasNotChangedIsReplaced() throws {
    #expect(try message("link", ":") == nil)
    #expect(try Workspace.read(file) == "new")
  }

  // MARK: The whole command

  /// Programs that a sweep starts between its look and the replacement make the change: git for its own file.
  @Test func theSweepLeavesTheFileAndSaysSo() throws {
    let outcome = try workspace.run(
      script: """
        umask 077; head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase; mkdir bin
        printf '#!/bin/sh\\nexport PATH=/usr/bin:/bin; [ $3 != --add ] || (cd "$W" && eval "$CHANGE"); exec git "$@"\\n' >bin/git; chmod +x bin/git
        look() { printf 'https://ada:pass@example.org\\n' >.git-credentials; cp .git-credentials made; ln -sf .git-credentials link
          rm -f home/.gitconfig; PATH=$W/bin:$PATH CHANGE=$2 coffer sweep $1 --move --force --key-file key 2>&1 >table | sed "s,$W/,," ; }
        mkdir x
        look .git-credentials 'echo https://bob:p@x >>.git-credentials'; cat .git-credentials
        look .git-credentials 'cp made x/.git-credentials; mv x/.git-credentials .git-credentials'; cmp .git-credentials made
        mkdir y; ln -s y z; printf 'https://ada:pass@example.org\\n' >y/.git-credentials; cp -a y y2
        rm -f home/.gitconfig; PATH=$W/bin:$PATH CHANGE='ln -sfn y2 z' \\
          coffer sweep z/.git-credentials --move --force --key-file key 2>&1 >table | sed "s,$W/,,"; cat y/.git-credentials y2/.git-credentials
        """)
    let changed = ": another program has changed it at this moment"
    let hint = "hint: the same command again"
    #expect(
      outcome.output.split(separator: "\n").map(String.init) == [
        "coffer: .git-credentials\(changed)", hint, "https://ada:pass@example.org", "https://bob:p@x",
        "coffer: .git-credentials\(changed)", hint,
        "coffer: y/.git-credentials\(changed)", hint, "https://ada:pass@example.org", "https://ada:pass@example.org",
      ], "\(outcome.output)\(outcome.errors)")
  }

  /// One command removes the files that killed ones have left, and not that of another which is at work.
  @Test func theNewFileOfARunningProgramStays() throws {
    try shell("printf old >file; printf x >.file.0123456789abcdef.new")
    let new = try NewFile<FileError>(at: TemporaryName.next(for: file))
    #expect(TemporaryName.deadLeftovers(for: file) == ["\(workspace.path)/.file.0123456789abcdef.new"])
    try TemporaryName.removeLeftovers(for: file)
    #expect(try Files<FileError>.status(at: new.path) != nil)
    #expect(try workspace.run(script: "ls -A | grep -c '[.]new$'").output == "1\n")
    #expect(try new.appear(at: "\(file)-2"))
  }
}
