import ArgumentParser
import CofferConsole
import CofferFiles
import ForeignFormats
import Glibc
import ProgramSecrets
import SecretMemory
import VaultCore

/// A database of KeePass, which keepassxc-cli decrypts, or the XML that KeePass and KeePassXC export.
enum KeePassImport: ForeignFormat {
  static let name = "kdbx"
  static let abstract = "Import a database of KeePass or KeePassXC, by keepassxc-cli, or their XML."

  struct Options: ForeignFormatOptions {
    @Option(
      name: .customLong("from-key-file"),
      help: ArgumentHelp("Open the database with this key file as well.", valueName: "file"), completion: .file())
    var keyFile: String?

    @OptionGroup var passphrase: SourcePassphrase

    @Flag(name: .customLong("from-no-passphrase"), help: "The database has a key file alone.")
    var hasNoPassphrase = false

    @OptionGroup var folders: FolderOptions

    var isGrouping: Bool { folders.isGrouping }
  }

  static func found(by shared: ForeignImportOptions, _ own: Options) throws -> (items: ForeignItems, source: String) {
    let source = try shared.file == "-" ? shared.open(usualFile: nil) : .openFile(shared.file ?? shared.usualPath(nil))
    guard try isDatabase(source) else {
      let text = try SourceText.reading(source)
      return (try items(of: text, source.name) { _ in nil }, source.name)
    }
    guard !own.hasNoPassphrase || own.keyFile != nil else {
      throw Failure.usage("--from-no-passphrase: needs --from-key-file")
    }
    let database = KeePassDatabase(
      source, keyFile: own.keyFile,
      try own.hasNoPassphrase ? nil : own.passphrase.read(for: source, isInputAllowed: !shared.vault.noInput))
    let text = try database.exported()
    return (try items(of: text, "\(source.name): XML", database.file), source.name)
  }

  /// Standard input is XML.
  private static func isDatabase(_ source: Descriptor) throws -> Bool {
    var head = [UInt8](repeating: 0, count: KeePassFormat.signature.count)
    let count = unsafe head.withUnsafeMutableBytes { unsafe pread(source.number, $0.baseAddress, $0.count, 0) }
    return count == head.count && head == KeePassFormat.signature
  }

  /// - Parameter fetch: Fetches a file that the XML does not have.
  private static func items(
    of text: SourceText, _ name: String, _ fetch: (KeePassFormat.Attachment) throws -> HeldSecret?
  ) throws -> ForeignItems {
    try text.located(in: name) {
      var (found, attachments) = try KeePassFormat.items(of: text)
      var room = AttachmentRoom()
      for file in attachments {
        let content = try room.content(named: file.name, line: file.line, &found.lost) {
          guard let held = try file.content ?? fetch(file) else { return nil }
          return try file.isCompressed ? inflated(held, name, file) : held
        }
        if let content { found.items[file.item].add(.init(field: file.name, secret: content)) }
      }
      return found
    }
  }

  /// - Throws: `secretTooLarge`, for more than an item can hold.
  private static func inflated(_ held: HeldSecret, _ name: String, _ file: KeePassFormat.Attachment) throws -> HeldSecret {
    let packed = try SealedFile.make(of: held.secret, named: file.name)
    var program = ConvertingProgram(["gzip", "-dc"], package: "gzip")
    program.input = .descriptor(packed.number)
    let outcome = try program.run { try HeldSecret(.reading($0, limit: SourceText.maximumFieldByteCount)) }
    guard outcome.status == 0 else { throw Failure.usage("\(name):\(file.line): \(file.name): gzip cannot read it") }
    return outcome.output
  }
}
