import AccessRights
import ArgumentParser
import CofferApps
import CofferConsole
import CofferFiles
import SecretMemory
import VaultCore

struct AppKeygen: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keygen", abstract: "Make the key of a new team, and print the team's name.",
    discussion: "With this file, anyone can sign apps that reach all items of the team. An existing file is never replaced.")

  @Argument(help: "The new file.", completion: .file())
  var file: String

  @Flag(help: "As JSON.")
  var json = false

  func run() throws {
    let output = try Descriptor.create(file)
    Hardening.hide()
    let key = try TeamSigningKey.random()
    try TeamKeyFile.write(key, to: output)
    try output.synchronizeAndClose()
    let team = key.publicKey.identifier.text
    try Descriptor.output.write(json ? JSON.object([("team", .text(team))]).description + "\n" : "\(team)\n")
  }
}

struct AppSign: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign", abstract: "Sign a manifest and its executables, and print the signed manifest.")

  @OptionGroup var manifest: ManifestOptions

  @Option(help: ArgumentHelp("The team's key; /dev/stdin reads it from standard input.", valueName: "file"), completion: .file())
  var key: String

  func run() throws {
    let place = try manifest.place()
    let keyFile = try Descriptor.openKeyFile(key)
    Hardening.hide()
    let (signed, store) = try about(place.path) {
      let file = try ManifestFile(place.bytes)
      let key = try about(key) { try TeamKeyFile.read(keyFile) }
      let signed = try SignedManifestFile.sign(file, executablesIn: place.directory, with: key)
      return (signed, try file.store(of: signed.manifest))
    }
    for warning in Lint.warnings(about: signed.manifest) {
      Descriptor.error.note("coffer: warning: \(warning.escapingControls())\n")
    }
    try unsafe SignedManifestFile.write(signed, store: store).withUnsafeBytes { try unsafe Descriptor.output.write($0.bytes) }
  }
}

struct AppLint: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lint", abstract: "Check a manifest, signed or not, and list entries that may be mistakes.")

  /// The name of a team that stands for `$(TEAM)` where the file names none.
  private static let nobody = String(repeating: "x", count: TeamIdentifier.characterCount)

  @OptionGroup var manifest: ManifestOptions

  @Flag(help: "As JSON.")
  var json = false

  func run() throws {
    let place = try manifest.place()
    let (checked, isSigned) = try about(place.path) { try check(place) }
    let found = try Lint.warnings(about: checked) + Lint.warnings(about: checked, executablesIn: place.directory)
    let warnings = found.map { isSigned ? $0 : $0.replacing(Self.nobody, with: "$(TEAM)") }
    guard !json else {
      let members: [(String, JSON)] = [
        ("signed", .boolean(isSigned)), ("application", isSigned ? .text(checked.applicationIdentifier) : .null),
        ("warnings", .array(warnings.map { .text($0) })),
      ]
      return try Descriptor.output.write(JSON.object(members).description + "\n")
    }
    for warning in warnings { try Descriptor.output.write("warning: \(warning.escapingControls())\n") }
  }

  private func check(_ place: ManifestPlace) throws -> (Manifest, isSigned: Bool) {
    let file = try ManifestFile(place.bytes)
    guard file.isSigned else {
      // The key comes with the signature.
      let team = try file.namedTeam ?? TeamIdentifier(Self.nobody)
      do {
        return (try SignedManifestFile.unsigned(file, of: team, executablesIn: place.directory), false)
      } catch let error as VaultError where error.code == .manifestGroup {
        throw VaultError(.manifestGroup, error.detail.replacing(Self.nobody, with: "$(TEAM)"))
      }
    }
    let signed = try SignedManifestFile.read(place.bytes)
    try SignedManifestFile.prove(signed.manifest, in: place.directory)
    return (signed.manifest, true)
  }
}
