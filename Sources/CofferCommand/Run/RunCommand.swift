import ArgumentParser
import CofferConsole
import CofferFiles
import Glibc
import ProgramSecrets

struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Start a program with secrets of the vault in its variables and files.",
    discussion: """
      A variable whose value is a reference, coffer://GROUP/SERVICE/ACCOUNT, gets the secret. Ends as the program ends; with 125 if \
      nothing was started or output was lost, 126 if the program could not be, 127 if it was not found.
      """)

  @Option(
    help: ArgumentHelp("Set the variables of this file. May be repeated.", valueName: "file"), completion: .file())
  var envFile: [String] = []

  @Option(
    help: ArgumentHelp("Set a variable. May be repeated.", valueName: "name=value"), completion: OfferedNames.namedReferences)
  var set: [String] = []

  @Option(
    help: ArgumentHelp(
      "Set a variable to the path of a file in memory with the secret. May be repeated.", valueName: "name=reference"),
    completion: OfferedNames.namedReferences)
  var file: [String] = []

  @Option(
    help: ArgumentHelp(
      "The same, with a file in a new directory, for a program that closes descriptors. May be repeated.",
      valueName: "name=reference"), completion: OfferedNames.namedReferences)
  var path: [String] = []

  @Option(
    help: ArgumentHelp("Make the secret the standard input of the program.", valueName: "reference"),
    completion: OfferedNames.references)
  var stdin: String?

  @Flag(help: "Become the program, and let its output pass as it is.")
  var noMasking = false

  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  @Argument(parsing: .postTerminator, help: "The program and its arguments, after --.", completion: OfferedNames.programs)
  var program: [String] = []

  func run() throws {
    guard let name = program.first else {
      throw Failure.usage("program: missing", hint: "it stands after --: coffer run -- PROGRAM ARGUMENT...")
    }
    var secrets = try ProgramInputs(self)
    let file = try found(name, secrets.environment)
    let values = try ReferencedSecrets(secrets.wanted, for: "run \(name)", access, vault)
    let descriptors = try secrets.makeFiles(values)
    let concealed = noMasking ? nil : try secrets.concealed(values)
    if secrets.paths.isEmpty, concealed == nil {
      let variables = try secrets.block(values)
      let error = unsafe variables.lend { unsafe file.become(RawArguments.ofProgram, $0) }
      withExtendedLifetime(descriptors) {}
      Launch.fail(name, error)
    }
    do {
      let status = try supervised(file, &secrets, values, concealed)
      // Until the program has them: the optimiser would close them after their last use.
      withExtendedLifetime(descriptors) {}
      SupervisedProgram.end(as: status)
    } catch let error as NotStarted {
      Launch.fail(name, error.error)
    }
  }

  private func found(_ name: String, _ environment: ProgramEnvironment) throws -> ProgramFile {
    guard let word = unsafe RawArguments.ofProgram[0] else { throw Failure.usage("program: missing") }
    do {
      return try unsafe ProgramFile(word, in: environment.plainValue(of: "PATH"))
    } catch {
      Launch.fail(name, error)
    }
  }

  /// The directory of `--path` is gone when this returns or throws.
  private func supervised(
    _ file: ProgramFile, _ secrets: inout ProgramInputs, _ values: ReferencedSecrets, _ concealed: ConcealedSecrets?
  ) throws -> Int32 {
    if let concealed, let session = try SessionProgram(concealed) {
      let directory = try self.directory(&secrets, values)
      defer { withExtendedLifetime(directory) {} }
      let error = unsafe try session.start(file, RawArguments.ofProgram, secrets.block(values))
      guard error == 0 else { throw NotStarted(error: SystemError(number: error)) }
      return try session.wait()
    }
    var supervised = try SupervisedProgram(concealed)
    let directory = try self.directory(&secrets, values)
    defer { withExtendedLifetime(directory) {} }
    let error = unsafe supervised.start(file, RawArguments.ofProgram, try secrets.block(values))
    guard error == 0 else { throw NotStarted(error: SystemError(number: error)) }
    return supervised.wait()
  }

  private func directory(_ secrets: inout ProgramInputs, _ values: ReferencedSecrets) throws -> ScratchDirectory? {
    guard !secrets.paths.isEmpty else { return nil }
    let directory = try ScratchDirectory(for: "--path", hint: "--file NAME=REFERENCE, which needs no directory")
    try secrets.write(values, into: directory)
    return directory
  }
}
