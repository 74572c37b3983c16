import ArgumentParser
import Coffer
import CofferConsole
import Glibc
import ProgramSecrets
import SecretMemory

/// How a secret comes to a clipboard.
struct ClipboardOptions: ParsableArguments {
  @Flag(help: "Ask the terminal to copy, by OSC 52, and clear nothing.")
  var osc52 = false

  @Option(help: ArgumentHelp("Clear the clipboard after so many seconds.", valueName: "seconds"))
  var clearAfter = 45

  private static let longestTime = 3600

  /// The place that a secret is copied to.
  enum Target {
    case display(Clipboard)
    case terminal(Descriptor)
  }

  /// Before a vault is opened.
  /// - Throws: usage; other, if there is no display, or no terminal.
  func target() throws -> Target {
    guard (1...Self.longestTime).contains(clearAfter) else {
      throw Failure.usage("--clear-after \(clearAfter): is not between 1 and \(Self.longestTime) seconds")
    }
    guard osc52 else { return .display(try Clipboard.current()) }
    let number = unsafe open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY)
    guard number >= 0 else {
      throw Failure(.other, "--osc52: needs a terminal", hint: "without it, the clipboard of the display is used")
    }
    return .terminal(Descriptor(number: number, name: "terminal"))
  }

  /// - Parameter items: Those that the text comes from; nil: it is of no vault, whose lock would clear it.
  /// - Throws: usage, for a text that is too long or has a zero byte; not found; I/O.
  func copy(_ text: borrowing Secret, _ name: String, to target: Target, _ items: OpenItems?, _ vault: VaultOptions) throws {
    guard text.count <= FilterProgram.longestInput else {
      throw Failure(
        .other, "\(name): \(text.count) bytes are too long for the clipboard, which gets \(FilterProgram.longestInput)",
        hint: "coffer get NAME writes it")
    }
    switch target {
    case .terminal(let terminal): try copy(text, name, by: terminal)
    case .display(let clipboard):
      // An item that can be read while the agent is locked is not cleared by that.
      let isUnlocked = try items?.keychain.agentStateIfThere() == .unlocked
      let process = try ClipboardClearing.start(
        clipboard, ClipboardProof(of: text), seconds: clearAfter, isUnlocked ? vault : nil)
      let isHinted: Bool
      do {
        isHinted = try clipboard.copy(text)
      } catch {
        // It clears what may have been copied.
        ClipboardClearing.end(process)
        throw error
      }
      Descriptor.error.note("\(name.escapingControls()): on the clipboard for \(counted(clearAfter, "second"))\n")
      guard !isHinted else { return }
      Descriptor.error.note("note: a clipboard manager may keep it: \(clipboard.copying[0]) cannot mark it as secret\n")
    }
  }

  /// A terminal cannot be asked for its clipboard without a risk: it would answer as if typed.
  private func copy(_ text: borrowing Secret, _ name: String, by terminal: Descriptor) throws {
    let encoded = try Base64.encode(text)
    try terminal.write("\u{1B}]52;c;")
    try encoded.withBytes { try terminal.write($0) }
    try terminal.write("\u{7}")
    terminal.close()
    Descriptor.error.note("\(name.escapingControls()): sent to the terminal, and not cleared from its clipboard\n")
  }
}
