import ArgumentParser
import CofferConsole
import CofferFiles
import ForeignFormats
import Glibc
import ProgramSecrets
import SecretMemory
import VaultCore

/// The directory of pass(1): gpg decrypts one file after the other.
enum PassImport: ForeignFormat {
  static let name = "pass"
  static let abstract = "Import the files of pass, by gpg."
  private static let usualDirectory = ".password-store"
  private static let suffix = ".gpg"
  private static let deepest = 32

  static func found(
    by shared: ForeignImportOptions, _ own: FolderOptions
  ) throws -> (items: ForeignItems, source: String) {
    guard shared.file != "-" else {
      throw Failure.usage("standard input: is not a directory", hint: "coffer import pass DIRECTORY")
    }
    let path = try shared.file ?? Environment["PASSWORD_STORE_DIR"] ?? shared.usualPath(usualDirectory)
    var lost: [LostPart] = []
    var files: [[String]] = []
    let root = try about(path) { try OpenDirectory.foreign(path) }
    try about(path) { try list(root, [], &files, &lost) }
    let work = try LongWork("decrypting")
    var items: [ForeignItem] = []
    for (index, file) in files.enumerated() {
      try work.step(UInt64(index), of: UInt64(files.count))
      let shown = file.joined(separator: "/")
      guard let content = try decrypted(file, in: root, isInputAllowed: shared.vault.isAnybodyThere) else {
        lost.append(LostPart(line: 1, what: shown, .tooLarge))
        continue
      }
      guard let item = try content.located(in: Path.join(path, shown), file) else {
        lost.append(LostPart(line: 1, what: shown, .noSecret))
        continue
      }
      if !PassFormat.isText(content) { lost.append(LostPart(line: 1, what: shown, .notText)) }
      items.append(item)
    }
    work.end()
    return (ForeignItems(items, lost: lost), path)
  }

  /// In the order of their names. Hidden files are those of pass and git.
  private static func list(
    _ directory: OpenDirectory, _ above: [String], _ files: inout [[String]], _ lost: inout [LostPart]
  ) throws {
    for name in try directory.names().sorted(by: { $0.description < $1.description }) where name.bytes.first != UInt8(ascii: ".")
    {
      let way = above + [name.description]
      switch try directory.kind(name) {
      case .directory where way.count < deepest:
        if let below = try directory.directory(name) { try list(below, way, &files, &lost) }
      case .file where name.description.hasSuffix(suffix): files.append(way)
      default: lost.append(LostPart(line: 1, what: way.joined(separator: "/"), .otherFile))
      }
    }
  }

  /// Returns nil if it has more than an item can hold.
  /// - Throws: locked, if gpg needs a passphrase and there is no person to ask; usage, for a file that is no message of gpg.
  private static func decrypted(_ way: [String], in root: OpenDirectory, isInputAllowed: Bool) throws -> HeldSecret? {
    let shown = way.joined(separator: "/")
    let file = try about(shown) { try root.file(RelativePath(shown)) }
    guard let file else { throw Failure(.notFound, "\(shown): has gone") }
    var words = ["gpg", "--quiet", "--batch", "--no-tty", "--decrypt", "--status-fd", "4"]
    if !isInputAllowed { words += ["--pinentry-mode", "error"] }
    var program = ConvertingProgram(words, package: "gpg")
    program.input = .descriptor(file.number)
    do {
      let outcome = try program.run(messages: 4) { try HeldSecret(.reading($0, limit: SourceText.maximumFieldByteCount)) }
      guard outcome.status != 0 else { return outcome.output }
      throw failure(outcome.messages, shown, isInputAllowed)
    } catch let error as VaultError where error.code == .secretTooLarge {
      return nil
    }
  }

  /// - Parameter state: The lines of `--status-fd`, of gpg's file DETAILS.
  private static func failure(_ state: String, _ shown: String, _ isInputAllowed: Bool) -> Failure {
    if state.contains("[GNUPG:] NODATA") { return .usage("\(shown): is not a message of gpg") }
    // Without its keys gpg considers none.
    if state.contains("[GNUPG:] NO_SECKEY") || !state.contains("[GNUPG:] KEY_CONSIDERED") {
      return Failure(.notFound, "\(shown): gpg has none of the keys for which it is encrypted", hint: "gpg --list-secret-keys")
    }
    guard isInputAllowed else {
      return Failure(
        .locked, "\(shown): gpg needs the passphrase of its key, which cannot be asked for here",
        hint: "once at a terminal: gpg --decrypt FILE; the agent of gpg remembers it")
    }
    return Failure(.other, "\(shown): gpg has not decrypted it; nothing has been changed")
  }
}

extension HeldSecret {
  fileprivate func located(in path: String, _ way: [String]) throws -> ForeignItem? {
    var names = way
    if let last = names.popLast() { names.append(String(last.dropLast(".gpg".count))) }
    do {
      return try PassFormat.item(of: self, named: names)
    } catch let error as ForeignError {
      throw Failure(error, about: "\(path):\(error.line)")
    }
  }
}
