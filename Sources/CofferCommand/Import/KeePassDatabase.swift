import CofferConsole
import CofferFiles
import ForeignFormats
import ProgramSecrets
import SecretMemory

/// A database of KeePass, which keepassxc-cli opens anew for each question.
struct KeePassDatabase {
  private let database: Descriptor
  private let keyFile: String?
  /// nil: it has a key file alone.
  private let passphrase: HeldSecret?

  init(_ database: Descriptor, keyFile: String?, _ passphrase: HeldSecret?) {
    (self.database, self.keyFile, self.passphrase) = (database, keyFile, passphrase)
  }

  /// The whole database as XML.
  /// - Throws: wrong passphrase; usage, for a database that is damaged; other, if keepassxc-cli is missing.
  func exported() throws -> SourceText {
    try run("export", ["--format", "xml"], []) { try SourceText.reading($0) }
  }

  /// A file that the XML does not have. Returns nil if its entry cannot be named.
  func file(_ attachment: KeePassFormat.Attachment) throws -> HeldSecret? {
    guard let path = attachment.path else { return nil }
    // With --stdout version 2.7 writes the file as a text, and changes its bytes. Without --quiet it writes a sentence behind it.
    return try run("attachment-export", ["--quiet"], [path, attachment.name, "/proc/self/fd/1"]) {
      try HeldSecret(.reading($0, limit: SourceText.maximumFieldByteCount))
    }
  }

  private func run<Output>(
    _ command: String, _ options: [String], _ names: [String], _ read: (Descriptor) throws -> Output
  ) throws -> Output {
    var words = ["keepassxc-cli", command] + options
    if let keyFile {
      // Its own message for a missing one does not name it.
      try Descriptor.openFile(keyFile).close()
      words += ["--key-file", keyFile]
    }
    if passphrase == nil { words.append("--no-password") }
    var program = ConvertingProgram(words + ["--", ConvertingProgram.filePath] + names, package: "keepassxc")
    program.environment = ["PATH=\(Environment["PATH"] ?? "/usr/bin:/bin")", "LC_ALL=C.UTF-8", "LANGUAGE=en"]
    if let home = Environment["HOME"] { program.environment?.append("HOME=\(home)") }
    program.file = database.number
    let question = try Pipe()
    let input = Descriptor(number: question.target.number, name: "keepassxc-cli")
    if let passphrase {
      try passphrase.secret.withBytes { try input.write($0) }
      try input.write("\n")
    }
    let line = question.keepSource()
    program.input = .descriptor(line.number)
    let outcome = try program.run(read)
    guard outcome.status != 0 else { return outcome.output }
    throw failure(outcome.messages)
  }

  private func failure(_ messages: String) -> Failure {
    let name = database.name
    if messages.contains("Invalid credentials") {
      return Failure(.wrongPassphrase, "\(name): wrong passphrase or key file", hint: "--from-key-file FILE, if it has one")
    }
    let reason = messages.split(whereSeparator: \.isNewline).last.map { ": " + String($0).escapingControls() } ?? ""
    return .usage("\(name): keepassxc-cli has not read it to its end\(reason)")
  }
}
