import ArgumentParser
import CofferConsole
import CofferFiles
import Glibc
import ProgramSecrets
import SecretMemory

struct InjectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inject", abstract: "Write a file whose references are replaced by secrets of the vault.",
    discussion:
      "{{ coffer://GROUP/SERVICE/ACCOUNT }} is replaced, with | json, sh, url, xml, base64 or trim behind it as the language needs."
  )

  @Option(
    name: .customLong("in"), help: ArgumentHelp("Read this file, not standard input.", valueName: "file"), completion: .file())
  var inputFile: String?

  @Option(
    name: .customLong("out"), help: ArgumentHelp("Write a new file, not standard output.", valueName: "file"), completion: .file()
  )
  var outputFile: String?

  @Option(help: ArgumentHelp("The permissions of the new file, 0600 otherwise.", valueName: "octal"))
  var mode: String?

  @Flag(help: "Replace the file of --out if it is there.")
  var force = false

  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  /// A hyphen is the stream, as in other commands.
  private var input: String? { inputFile == "-" ? nil : inputFile }
  private var output: String? { outputFile == "-" ? nil : outputFile }

  private static let longestTemplate = 16 << 20

  func run() throws {
    let mode = try permissions()
    guard input != nil || !vault.takesStandardInput else {
      throw Failure.usage("standard input: cannot give both a passphrase and the text", hint: "--in FILE, or another descriptor")
    }
    if let output { try checkIsFree(output) }
    let source = try input.map { try Descriptor.open($0) } ?? .input
    guard source.isReadable else {
      throw Failure.usage("standard input: closed, and the text comes from there", hint: "--in FILE")
    }
    let bytes = try source.contents(limit: Self.longestTemplate)
    let text = try located(bytes, source) { try SecretText(template: bytes) }
    let wanted = text.placeholders.map {
      ReferencedSecrets.Wanted(place: Self.place($0.offset, bytes, source), reference: $0.reference)
    }
    let values = try ReferencedSecrets(wanted, for: "inject into \(output ?? "standard output")", access, vault)
    let pieces = try located(bytes, source) { try text.resolved { try values[$0] } }
    if let output { try write(pieces, to: output, mode) } else { try write(pieces, to: .output) }
  }

  private func permissions() throws(Failure) -> UInt32 {
    guard let mode else { return 0o600 }
    guard output != nil else { throw .usage("--mode: standard output has its own permissions", hint: "--out FILE") }
    guard let bits = UInt32(mode, radix: 8), bits <= 0o777, mode.utf8.count <= 4 else {
      throw .usage("--mode \(mode): is not a number from 0 to 777 in octal")
    }
    return bits
  }

  private func checkIsFree(_ path: String) throws {
    guard let status = try Files<FileError>.status(at: path) else { return }
    guard status.kind == .file else { throw Failure(.inputOutput, "\(path): is not a file", hint: "--out names a file") }
    guard force else { throw Self.exists(path) }
  }

  private static func exists(_ path: String) -> Failure {
    Failure(.duplicate, "\(path): there is such a file already", hint: "--force replaces it")
  }

  // MARK: Places of errors

  private static func place(_ offset: Int, _ bytes: [UInt8], _ source: Descriptor) -> String {
    let position = TextPosition(offset, in: bytes)
    return "\(source.name):\(position.line):\(position.column)"
  }

  private func located<Result>(_ bytes: [UInt8], _ source: Descriptor, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as TextError {
      throw Failure(error, about: Self.place(error.offset, bytes, source))
    }
  }

  // MARK: Writing

  private func write(_ pieces: [SecretText.Value], to descriptor: Descriptor) throws {
    for piece in pieces { try piece.withBytes { try descriptor.write($0) } }
  }

  /// Beside it under another name, so that the file is whole or not there.
  private func write(_ pieces: [SecretText.Value], to path: String, _ mode: UInt32) throws {
    // A signal ends this where the new file can be removed. One that a killed command has left goes.
    let work = try LongWork("writing")
    try TemporaryName.removeLeftovers(for: path)
    let new = try about(path) { try NewFile<FileError>(at: TemporaryName.next(for: path), named: path) }
    for piece in pieces { try piece.withBytes { try new.file.write($0) } }
    try new.file.setMode(mode)
    try new.file.synchronize()
    try work.check()
    let isPlaced = try Self.place(new, at: path, isReplacing: force)
    guard isPlaced else { throw Self.exists(path) }
    try Files<FileError>.synchronizeDirectory(Path.parent(of: path))
  }

  private static func place(_ new: consuming NewFile<FileError>, at path: String, isReplacing: Bool) throws -> Bool {
    guard isReplacing else { return try new.appear(at: path) }
    _ = try new.replace(path)
    return true
  }
}
