import ArgumentParser
import CofferConsole
import CofferFiles
import ForeignFormats
import Glibc
import ProgramSecrets
import SecretMemory
import VaultCore

/// Exports of other vaults.
enum BitwardenImport: ForeignFormat {
  static let name = "bitwarden"
  static let abstract = "Import an export of Bitwarden or Vaultwarden (JSON), unencrypted or with a password of its own."

  struct Options: ForeignFormatOptions {
    @OptionGroup var passphrase: SourcePassphrase
    @OptionGroup var folders: FolderOptions

    var isGrouping: Bool { folders.isGrouping }
  }

  static func found(by shared: ForeignImportOptions, _ own: Options) throws -> (items: ForeignItems, source: String) {
    let source = try shared.open(usualFile: nil)
    let text = try SourceText.reading(source)
    let items = try text.located(in: source.name) {
      guard try BitwardenEncryption.isProtected(text) else { return try BitwardenFormat.items(of: text) }
      let password = try own.passphrase.read(for: source, isInputAllowed: !shared.vault.noInput)
      let content = try BitwardenEncryption.decrypted(text, password.secret)
      return try content.located(in: "\(source.name): decrypted") { try BitwardenFormat.items(of: content) }
    }
    return (items, source.name)
  }
}

/// An archive with a JSON file, which unzip takes out.
enum OnePasswordImport: ForeignFormat {
  static let name = "1pux"
  static let abstract = "Import an export of 1Password 8, by unzip."

  static func found(
    by shared: ForeignImportOptions, _ own: FolderOptions
  ) throws -> (items: ForeignItems, source: String) {
    guard let path = shared.file, path != "-" else {
      throw Failure.usage("file: missing", hint: "an archive is not read from standard input: name a file")
    }
    let archive = try Descriptor.openFile(path)
    let text = try member(OnePasswordFormat.dataName, of: archive, path) { try SourceText.reading($0) }
    guard let text else { throw Failure.usage("\(path): has no \(OnePasswordFormat.dataName), as an export of 1Password has") }
    var (found, attachments) = try text.located(in: "\(path): \(OnePasswordFormat.dataName)") {
      try OnePasswordFormat.items(of: text)
    }
    var room = AttachmentRoom()
    for file in attachments {
      let content = try room.content(named: file.fileName, line: file.line, &found.lost) {
        try member(file.member, of: archive, path) { try HeldSecret(.reading($0, limit: SourceText.maximumFieldByteCount)) }
      }
      if let content { found.items[file.item].add(.init(field: file.fileName, secret: content)) }
    }
    return (found, path)
  }

  /// Returns nil if the archive has no such member.
  private static func member<Content>(
    _ name: String, of archive: Descriptor, _ path: String, _ read: (Descriptor) throws -> Content
  ) throws -> Content? {
    // unzip takes names as patterns.
    let pattern = name.reduce(into: "") { $0 += "\\*?[]".contains($1) ? "\\\($1)" : String($1) }
    var program = ConvertingProgram(["unzip", "-p", ConvertingProgram.filePath, pattern], package: "unzip")
    program.environment = ["PATH=\(Environment["PATH"] ?? "/usr/bin:/bin")", "LC_ALL=C.UTF-8"]
    program.file = archive.number
    let outcome = try program.run(read)
    switch outcome.status {
    case 0, 1: return outcome.output
    case 11: return nil
    case 12:
      throw Failure.usage(
        "\(path): its parts overlap, as in an archive that is made to fill memory or disks; nothing has been changed")
    default: throw Failure.usage("\(path): is not an archive, or a damaged or cut-off one; nothing has been changed")
    }
  }
}
