import ArgumentParser
import CofferConsole
import ProgramSecrets
import SecretMemory

struct CredentialCargo: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cargo", abstract: "Keep the tokens of cargo's registries.",
    discussion: #"cargo runs it as cargo-credential-coffer: global-credential-providers = ["cargo-credential-coffer"]"#)

  @Flag(help: "As cargo starts a credential provider.")
  var cargoPlugin = false

  @OptionGroup var helper: HelperOptions

  /// One message of cargo on one line. A token in it stays in locked memory.
  private static let longestMessage = 1 << 16

  /// cargo shows the words of an answer, and would show an exit status in their place.
  func run() throws {
    guard cargoPlugin else {
      throw Failure.usage("cargo: is for cargo alone, which starts it with --cargo-plugin", hint: "coffer list shows the tokens")
    }
    try Descriptor.output.write("{\"v\":[1]}\n")
    do {
      try helper.open(Self.firstMessage) { items, first in
        let registries = try CargoItems(items, helper)
        var message: HeldSecret? = first
        while let line = message {
          do { try registries.answer(line) } catch { try Self.write(error) }
          message = try Self.message()
        }
      }
    } catch is NoMessage {
      // Without a question no passphrase is asked for.
    } catch {
      try Self.write(error)
    }
  }

  private static func write(_ error: any Error) throws {
    let failure = Failure(error)
    let words =
      failure.status == .locked
      ? "coffer is locked: coffer vault unlock" : "coffer: \(failure.message)" + (failure.hint.map { " (\($0))" } ?? "")
    let members: [(String, JSON)] = [("kind", .text("other")), ("message", .text(words)), ("caused-by", .array([]))]
    try Descriptor.output.write(JSON.object([("Err", .object(members))]).description + "\n")
  }

  private struct NoMessage: Error {}

  private static func firstMessage() throws -> HeldSecret {
    guard let message = try message() else { throw NoMessage() }
    return message
  }

  /// Returns nil at the end.
  private static func message() throws -> HeldSecret? {
    var line = try Secret(count: longestMessage)
    var count = 0
    while true {
      guard count < longestMessage else { throw Failure(.other, "standard input: a message of more than 64 KiB") }
      let got = try line.withMutableBytes { span in
        try unsafe span.withUnsafeMutableBytes { buffer in
          try unsafe Descriptor.input.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count..<count + 1]))
        }
      }
      if got == 0, count == 0 { return nil }
      if got == 0 || line.byte(at: count) == UInt8(ascii: "\n") { return HeldSecret(try line.copy(0, count)) }
      count += 1
    }
  }
}
