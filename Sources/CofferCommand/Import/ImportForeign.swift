import ArgumentParser
import Coffer
import CofferConsole
import CofferFiles
import ForeignFormats
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

  @OptionGroup var own: Format.Options
  @OptionGroup var options: ForeignImportOptions

  func run() throws {
    let (found, source) = try Format.found(by: options, own)
    try options.work(found, from: source, isGrouping: own.isGrouping)
  }
}

struct ForeignImportOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("The file; - for standard input.", valueName: "file"), completion: .file())
  var file: String?

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

  /// nil: standard input, or the usual file.
  var path: String? { file == "-" ? nil : file }

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
    return try .open(usualPath(usualFile))
  }

  /// - Throws: usage.
  func usualPath(_ usual: String?) throws -> String {
    guard let usual else { throw Failure.usage("file: missing", hint: "name one, or - for standard input") }
    guard let home = Environment["HOME"], home.hasPrefix("/") else {
      throw Failure.usage("HOME: is not set, so that \(usual) has no place", hint: "name the file")
    }
    return Path.join(home, usual)
  }

  func work(_ found: ForeignItems, from file: String, isGrouping: Bool) throws {
    var found = found
    if !plainText.notASecret { found.hideSecretAttributes() }
    found.leaveOtherNames()
    let items = try access.open(vault)
    guard try !items.keychain.isLocked else { throw Failure(VaultError(.locked), about: "the vault") }
    let group = try items.group(named: group)
    if let group, group != .standard { try items.checkCanAdd(to: group, isCreated: createGroup || dryRun) }
    let work = try LongWork("comparing")
    let plan = try ForeignPlan(for: found.items, in: items, group: group, work, isGrouping: isGrouping)
    if !dryRun {
      try work.begin("copying")
      try plan.carryOut(in: items, work)
    }
    work.end()
    items.finish()
    try ForeignReport(file: file, plan: plan, lost: found.lost, isTrial: dryRun).write(asJSON: json)
  }
}
