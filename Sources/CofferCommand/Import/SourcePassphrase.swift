import ArgumentParser
import CofferConsole
import ProgramSecrets
import SecretMemory

/// The passphrase of a file that is imported.
struct SourcePassphrase: ParsableArguments {
  @Option(
    name: .customLong("from-passphrase-fd"),
    help: ArgumentHelp("Read the passphrase of the file from this open descriptor.", valueName: "n"))
  var descriptor: Int32?

  /// One line, shorter than a pipe holds.
  /// - Throws: locked, if it cannot be asked for; cancelled.
  func read(for file: Descriptor, isInputAllowed: Bool) throws -> HeldSecret {
    if let number = descriptor { return try HeldSecret(.readingLine(.given(number, by: "--from-passphrase-fd"))) }
    do {
      return try HeldSecret(Person.ask("Passphrase of \(file.name.escapingControls()): ", isAllowed: isInputAllowed))
    } catch let failure as Failure where failure.status == .locked {
      throw Failure(
        .locked, "\(file.name): its passphrase is needed, and cannot be asked for here",
        hint: "--from-passphrase-fd N, or a terminal")
    }
  }
}
