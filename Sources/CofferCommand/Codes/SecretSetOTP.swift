import ArgumentParser
import Coffer
import CofferConsole
import CofferFiles
import KeyedHashes
import OneTimeCodes
import ProgramSecrets
import SecretMemory
import VaultCore

struct SecretSetOTP: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set-otp", abstract: "Keep what the one-time codes of an item are made from.",
    discussion: """
      An otpauth: URI, or a key in base32, from the terminal, standard input or --file; or the picture of a QR code. It becomes the \
      further secret SERVICE#otp of the item.
      """)

  @OptionGroup var item: ItemOptions

  @Option(help: ArgumentHelp("Read the URI or the key from this file.", valueName: "path"), completion: .file())
  var file: String?

  @Option(help: ArgumentHelp("Read the URI from a picture of a QR code, by zbarimg.", valueName: "image"), completion: .file())
  var qr: String?

  @Option(help: ArgumentHelp("The digits of a code from a key: 6 to 8, 6 otherwise.", valueName: "n"))
  var digits: Int?

  @Option(help: ArgumentHelp("The seconds for which a code from a key is valid: 1 to 300, 30 otherwise.", valueName: "seconds"))
  var period: UInt64?

  @Option(help: ArgumentHelp("The codes of a key go by a counter, which begins with this.", valueName: "n"))
  var counter: UInt64?

  @Option(help: ArgumentHelp("The hash of a key: sha1, sha256 or sha512; sha1 otherwise.", valueName: "name"))
  var algorithm: String?

  @Flag(help: "Replace what is there.")
  var update = false

  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    let selection = try CodeItem.selection(item)
    let parameters = try parameters()
    var given = try readWithoutPerson()
    let items = try access.open(vault)
    let entry = try selection.one(in: items)
    let existing = try checkedExisting(selection, entry, items)
    let text = try given.take() ?? Person.ask("URI or key: ", isAllowed: !vault.noInput)
    let uri = try uri(of: text, parameters, entry)
    try about(entry.name) {
      if let existing {
        _ = try items.keychain.update(existing.reference, secret: uri.uri) { _ in }
      } else {
        _ = try items.keychain.add(
          entry.item.bareCompanion(CodeItem.field), secret: uri.uri, group: entry.reference.group, accessible: entry.accessibility
        )
      }
    }
    existing?.hintAtRestoring(in: items.keychain)
    items.finish()
    note(uri.parameters, entry)
  }

  // MARK: Check

  /// - Throws: usage.
  private func parameters() throws(Failure) -> CodeParameters {
    var parameters = CodeParameters()
    guard counter == nil || period == nil else { throw .usage("--counter: not with --period") }
    guard qr == nil || file == nil else { throw .usage("--qr: not with --file") }
    if let digits {
      guard CodeParameters.digitCounts.contains(digits) else { throw .usage("--digits \(digits): is not between 6 and 8") }
      parameters.digits = digits
    }
    if let period {
      guard CodeParameters.periods.contains(period) else { throw .usage("--period \(period): is not between 1 and 300") }
      parameters.moment = .time(period: period)
    }
    guard counter != .max else { throw Self.counterAtItsEnd("--counter") }
    if let counter { parameters.moment = .counter(counter) }
    if let algorithm {
      guard let hash = KeyedHash(codeAlgorithm: algorithm) else {
        throw .usage("--algorithm \(algorithm): is not a hash for codes", hint: "sha1, sha256 or sha512")
      }
      parameters.algorithm = hash
    }
    return parameters
  }

  private func checkedExisting(_ selection: Selection, _ entry: Entry, _ items: OpenItems) throws -> Entry? {
    guard let existing = try items.companionIfThere(CodeItem.field, of: selection.name, entry) else { return nil }
    guard update else {
      throw Failure(
        .duplicate, "\(entry.name): has one-time codes already", hint: "to replace them: coffer secret set-otp --update NAME")
    }
    return existing
  }

  // MARK: Read

  /// Before a person is asked for a passphrase. nil: a person types it.
  private func readWithoutPerson() throws -> Secret? {
    if let qr { return try QRCode.text(inImage: qr) }
    guard case .stream(let stream) = try SecretSource.choose(file: file, vault) else {
      guard !vault.noInput else {
        throw Failure(
          .locked, "a URI or key is needed, and cannot be asked for here",
          hint: "standard input that is not a terminal, or --file FILE"
        )
      }
      return nil
    }
    let limit = 2 * CodeSource.longestURI
    do { return try Secret.reading(stream, limit: limit) } catch VaultError.Code.secretTooLarge {
      throw Failure.usage("\(stream.name): more than \(limit) bytes, as no URI and no key has", hint: "a picture: --qr")
    }
  }

  /// - Throws: usage, for a text that is neither a URI nor a key.
  private func uri(of text: borrowing Secret, _ parameters: CodeParameters, _ entry: Entry) throws -> CodeSource {
    let isEmpty = text.withBytes { bytes in
      (0..<bytes.byteCount).allSatisfy { [0x20, 0x09, 0x0A, 0x0D].contains(bytes.byte(at: $0)) }
    }
    guard !isEmpty else { throw Failure.usage("key: is empty; a key in base32 or a URI of the form otpauth://… is needed") }
    let isURI = text.withBytes { bytes in (0..<bytes.byteCount).contains { bytes.byte(at: $0) == UInt8(ascii: ":") } }
    guard isURI else {
      let (service, account) = ItemName.parts(of: entry.item)
      let label = [service, account].filter { !$0.isEmpty }.map(PercentEncoding.encode).joined(separator: ":")
      return try about("key") { try CodeSource(CodeSource.uri(seed: text, parameters, label: label)) }
    }
    let given = [
      "--digits": digits != nil, "--period": period != nil, "--counter": counter != nil, "--algorithm": algorithm != nil,
    ]
    if let option = given.filter(\.value).keys.min() { throw Failure.usage("\(option): a URI says that itself") }
    let source = try about("URI") { try CodeSource(text) }
    guard source.parameters.moment != .counter(.max) else { throw Self.counterAtItsEnd("URI, counter") }
    return source
  }

  private static func counterAtItsEnd(_ place: String) -> Failure { .usage("\(place): the highest number has no next one") }

  // MARK: Print

  private func note(_ parameters: CodeParameters, _ entry: Entry) {
    let moment =
      switch parameters.moment {
      case .time(let period): "a new one each \(counted(Int(period), "second"))"
      case .counter(let counter): "the next one is number \(counter)"
      }
    Descriptor.error.note("\(entry.name.escapingControls()): codes of \(parameters.digits) digits, \(moment)\n")
  }
}

/// Reads pictures by zbarimg, where it is installed.
enum QRCode {
  private static let program = "zbarimg"

  /// - Throws: not found; I/O; other: there is none in it.
  static func text(inImage path: String) throws -> Secret {
    guard FilterProgram.isThere(program) else {
      throw Failure(.notFound, "\(program): not found, and reads QR codes", hint: "apt install zbar-tools")
    }
    try Descriptor.openFile(path).close()
    // A name without a slash may mean a format or an option to the program.
    let file = path.hasPrefix("/") ? path : "./\(path)"
    let outcome = try FilterProgram([program, "--quiet", "--raw", "--oneshot", "--nodbus", file])
      .run(Secret(count: 0), limit: CodeSource.longestURI + 2)
    guard outcome.status == 0, outcome.output.count > 0 else {
      throw Failure(.other, "\(path): no QR code is found in it", hint: "a PNG or JPEG file that shows all of the code")
    }
    return try outcome.output.duplicate()
  }
}
