import ArgumentParser
import Coffer
import CofferAudit
import CofferConsole
import CofferFiles
import Glibc
import SecretMemory

/// A process that clears the clipboard after a time, when the vault is locked, or when it is to end, if the clipboard still holds what was
/// copied. It knows the text by a keyed hash alone.
enum ClipboardClearing {
  /// Starts it, and comes back when it waits, so that nothing is copied that nothing clears.
  /// - Parameter options: The vault whose lock clears as well. nil: none.
  /// - Throws: I/O; other, if it does not start.
  static func start(
    _ clipboard: Clipboard, _ proof: borrowing ClipboardProof, seconds: Int, _ options: VaultOptions?
  ) throws -> pid_t {
    var words = ["secret", "clear-clipboard", clipboard.rawValue, "\(seconds)", "--no-input"]
    if let options {
      words += ["--agent"] + (options.system ? ["--system"] : []) + (options.vault.map { ["--vault", $0] } ?? [])
    }
    let own = AuditPlace.caller().executable
    let question = try Pipe()
    let answer = try Pipe()
    var program = ChildProgram(own, words)
    program.streams = [.descriptor(question.source.number), .descriptor(answer.target.number), .none]
    program.hasSession = true
    program.blocked = ChildProgram.noSignals
    let started = program.start()
    guard started.errno == 0 else { throw SystemError(number: started.errno).failure(own) }
    try proof.bytes.withBytes { try Descriptor(number: question.target.number, name: own).write($0) }
    let ready = answer.keepSource()
    var byte: UInt8 = 0
    let count = try unsafe withUnsafeMutableBytes(of: &byte) {
      try unsafe Descriptor(number: ready.number, name: own).read(into: $0)
    }
    guard count == 1 else { throw Failure(.other, "\(own): the process that clears the clipboard does not start") }
    return started.process
  }

  /// Nothing was copied.
  static func end(_ process: pid_t) {
    kill(process, SIGTERM)
    _ = ChildProgram.wait(for: process)
  }
}

struct SecretClearClipboard: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear-clipboard", abstract: "Clear the clipboard later. coffer copy starts it.", shouldDisplay: false)

  @Argument var clipboard: String
  @Argument var seconds: Int
  @Flag var agent = false
  @OptionGroup var vault: VaultOptions

  /// How often the agent is asked whether it is locked, in milliseconds.
  private static let pause: Int32 = 500

  func run() throws {
    let signals = try BlockedSignals([SIGTERM, SIGHUP, SIGINT])
    Hardening.hide()
    guard let clipboard = Clipboard(rawValue: clipboard) else { throw Failure.usage("\(clipboard): no such clipboard") }
    let proof = try ClipboardProof(Secret.reading(.input) { bytes, _ in bytes.byteCount >= ClipboardProof.byteCount })
    let keychain = agent ? try vault.ownedVault().agent() : nil
    try Descriptor.output.write("\n")
    let deadline = Deadline(milliseconds: seconds * 1000)
    while !deadline.hasPassed {
      var entry = pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)
      let isWatched = keychain != nil
      guard unsafe poll(&entry, 1, isWatched ? min(deadline.left, Self.pause) : deadline.left) == 0 else { break }
      if let keychain, try keychain.agentStateIfThere() != .unlocked { break }
    }
    guard let text = try clipboard.text(), try proof.isOf(text) else { return }
    try clipboard.clear()
  }
}
