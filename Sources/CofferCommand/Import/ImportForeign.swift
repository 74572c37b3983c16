import ArgumentParser
import Coffer
import CofferConsole
import CofferFiles
import ForeignFormats
import ProgramSecrets
import SecretMemory
import VaultCore

/// `coffer import FORMAT FILE`, for a file of another program.
struct ImportForeign<Format: ForeignFormat>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: Format.name, abstract: Format.abstract,
      discussion: """
        An item of a name that the vault has with another secret gets the name "NAME (2)"; one with the same secret is skipped. Parts of the file \
        that become no item are listed. A file that cannot be read to its end changes nothing.
        """)
  }

  @OptionGroup var options: ForeignImportOptions

  func run() throws {
    let source = try options.open(usualFile: Format.usualFile)
    // The file is read to its end before a vault or an agent is open here: what a hostile file does to a parser meets no key.
    let text = try SourceText.reading(source)
    let service = try options.service(isTaken: Format.self == DotenvImport.self)
    let found = try located(text, source) { try Format.items(of: text, service: service) }
    try options.work(found, from: source.name)
  }

  private func located<Result>(_ text: SourceText, _ source: Descriptor, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as TextError {
      throw Failure(error, about: "\(source.name):\(text.line(of: error.offset))")
    } catch let error as ForeignError {
      throw Failure(error, about: "\(source.name):\(error.line)")
    }
  }
}

extension SourceText {
  /// Everything up to the end of `descriptor`, straight into locked memory.
  static func reading(_ descriptor: Descriptor) throws -> SourceText {
    do {
      return try unsafe SourceText { try unsafe descriptor.read(into: $0) }
    } catch let error as ForeignError {
      throw Failure(error, about: "\(descriptor.name):\(error.line)")
    }
  }
}

struct ForeignImportOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("The file; - for standard input.", valueName: "file"), completion: .file())
  var file: String?

  @Option(
    help: ArgumentHelp(
      "With dotenv: the service of the items, otherwise the name of the file's directory.", valueName: "name"))
  var service: String?

  @Option(
    help: ArgumentHelp("The group of the items, \"default\" if none is named.", valueName: "name"),
    completion: OfferedNames.groups)
  var group: String?

  @Flag(help: "Make the group if it is not there.")
  var createGroup = false

  @Flag(help: "Show what would be done, and change nothing.")
  var dryRun = false

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var plainText: PlainTextOptions
  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  /// - Parameter usualFile: In the home directory, if none is named.
  /// - Throws: usage; I/O.
  func open(usualFile: String?) throws -> Descriptor {
    if file == "-" {
      guard !vault.takesStandardInput else {
        throw Failure.usage("standard input: cannot give both passphrase and items", hint: "another descriptor")
      }
      guard Descriptor.input.isReadable else { throw Failure.usage("standard input: closed, and the items come from there") }
      return .input
    }
    if let file { return try .open(file) }
    guard let usualFile else { throw Failure.usage("file: missing", hint: "name one, or - for standard input") }
    guard let home = Environment["HOME"], home.hasPrefix("/") else {
      throw Failure.usage("HOME: is not set, so that \(usualFile) has no place", hint: "name the file")
    }
    return try .open(Path.join(home, usualFile))
  }

  /// - Throws: usage.
  func service(isTaken: Bool) throws -> String? {
    guard isTaken else {
      guard service == nil else { throw Failure.usage("--service: the file names the services itself") }
      return nil
    }
    if let service {
      try ItemName.check(service, "--service")
      guard !service.isEmpty else { throw Failure.usage("--service: empty") }
      return service
    }
    return file.flatMap { $0 == "-" ? nil : ForeignPlace.service(ofFileAt: $0) }
  }

  func work(_ found: ForeignItems, from file: String) throws {
    var found = found
    if !plainText.notASecret { found.leaveSecretNames() }
    found.leaveOtherNames()
    let items = try access.open(vault)
    guard try !items.keychain.isLocked else { throw Failure(VaultError(.locked), about: "the vault") }
    let group = try items.group(named: group)
    if let group, group != .standard { try items.checkCanAdd(to: group, isCreated: createGroup || dryRun) }
    let work = try LongWork("comparing")
    let plan = try ForeignPlan(for: found.items, in: items, group: group, work)
    if !dryRun {
      try work.begin("copying")
      try plan.carryOut(in: items, work)
    }
    work.end()
    items.finish()
    try ForeignReport(file: file, plan: plan, lost: found.lost, isTrial: dryRun).write(asJSON: json)
  }
}

enum ForeignPlace {
  /// The name of the directory in which a file lies: that of a project.
  static func service(ofFileAt path: String) -> String? {
    guard let directory = Path.resolved(Path.parent(of: path)) else { return nil }
    let name = Path.name(of: directory)
    return name.isEmpty ? nil : name
  }
}
