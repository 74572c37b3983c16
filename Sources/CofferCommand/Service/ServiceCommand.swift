import ArgumentParser
import CLinux
import CofferConsole
import CofferFiles
import Glibc
import UnitCredentials
import VaultCore

struct ServiceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "service", abstract: "Give services of systemd secrets of root's vault when they start.",
    discussion: """
      systemd fetches a credential of a service from the agent of root's vault, and the service reads it from the file NAME in \
      $CREDENTIALS_DIRECTORY. coffer app grant unit:UNIT GROUP --read decides whether it may have it. A service without the grant does \
      not start; while the vault is locked, its start waits.
      """, subcommands: [ServiceAdd.self, ServiceRemove.self, ServiceList.self])

  func run() throws {
    throw Failure.usage("service: a verb is missing", hint: "coffer service --help")
  }
}

/// The service and its credential.
struct ServiceArguments: ParsableArguments {
  @Argument(help: "The unit of the service: NAME.service.")
  var unit: String

  @Argument(help: "The name of the credential, which is that of its file.")
  var name: String

  /// - Throws: usage.
  func credential() throws(Failure) -> UnitCredential {
    do throws(UnitCredential.Malformed) {
      return try UnitCredential(unit: unit, name: name)
    } catch {
      throw Self.refusal(error, unit, name)
    }
  }

  private static func refusal(_ malformed: UnitCredential.Malformed, _ unit: String, _ name: String) -> Failure {
    switch malformed {
    case .unit:
      .usage("\(unit): NAME.service, as systemctl shows it; of a template an instance: NAME@INSTANCE.service")
    case .name:
      .usage("\(name): a credential has a name of letters, digits, and the characters . _ -")
    case .tooLong(let limit):
      .usage("\(unit), \(name): are too long together: at most \(limit) bytes", hint: "a shorter name of the credential")
    }
  }
}

struct ServiceRoot: ParsableArguments {
  @Option(
    help: ArgumentHelp("The root of the file system that is changed, as of systemctl.", valueName: "directory"),
    completion: .directory)
  var root = ""

  var map: CredentialMap {
    CredentialMap(at: root + CredentialMap.standardDirectory, builder: root.isEmpty ? 0 : geteuid())
  }

  /// The directories of systemd in which units lie.
  private static let unitDirectories = [
    "/etc/systemd/system", "/run/systemd/system", "/run/systemd/transient", "/run/systemd/generator",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system", "/lib/systemd/system",
  ]

  /// Whether there is a unit of this name, or the template of an instance. A link counts, wherever it leads: that of an image may lead
  /// nowhere here.
  func hasUnit(_ unit: String) -> Bool {
    let template = unit.firstIndex(of: "@").map { unit[...$0] + ".service" }
    return Self.unitDirectories.contains { directory in
      [unit[...], template].contains { name in
        guard let name else { return false }
        var status = stat()
        return unsafe lstat("\(root)\(directory)/\(name)", &status) == 0
      }
    }
  }

  /// The file that tells systemd where the credential comes from.
  func dropIn(_ credential: UnitCredential) -> SystemFile {
    SystemFile(directory: "\(root)/etc/systemd/system/\(credential.unit).d", name: "coffer-\(credential.name).conf")
  }
}

struct ServiceAdd: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Give a service the secret of an item as a credential.",
    discussion: "Writes a drop-in for the unit, and which item the credential is. systemctl daemon-reload makes systemd read it.")

  @OptionGroup var service: ServiceArguments

  @Argument(help: "SERVICE/ACCOUNT or coffer://GROUP/SERVICE/ACCOUNT.")
  var item: String

  @Flag(help: "Replace the item of a credential that is there.")
  var force = false

  @OptionGroup var root: ServiceRoot

  func run() throws {
    let credential = try service.credential()
    let source = try source()
    let subject = "\(credential.unit), \(credential.name)"
    try about(subject) {
      if let old = try root.map.source(of: credential), old != source, !force {
        throw Failure(
          .duplicate, "\(subject): is \(Self.text(old)) already", hint: "--force replaces it")
      }
      // The item first: the service is not started without it.
      try root.map.set(source, for: credential)
      try root.dropIn(credential).write(Self.dropIn(credential))
    }
    // systemd takes drop-ins of a unit that comes later.
    if !root.hasUnit(credential.unit) {
      Descriptor.error.note("note: \(credential.unit): no unit of this name is there yet; look whether the name is right\n")
    }
    Descriptor.error.note(
      "note: to make systemd read it: systemctl daemon-reload\n"
        + "note: the vault decides whether it may: coffer app grant unit:\(credential.unit) \(source.group.name) --read\n")
  }

  private func source() throws -> CredentialSource {
    let name = try ItemName(parsing: item)
    guard name.url == nil else {
      throw Failure.usage("\(item): a credential is a password, not one for a URL", hint: "SERVICE/ACCOUNT")
    }
    guard name.field == nil else { throw Failure.usage("\(item): a credential is a secret, and no field of an item") }
    let group = try name.group.map { group in try about(group) { try AccessGroup(group) } } ?? .standard
    return CredentialSource(group, service: name.service, account: name.account)
  }

  static func text(_ source: CredentialSource) -> String {
    ([source.group.name, source.service] + (source.account.map { [$0] } ?? [])).joined(separator: "/").escapingControls()
  }

  private static func dropIn(_ credential: UnitCredential) -> String {
    """
    # Written by coffer service add; coffer service remove removes it.
    [Unit]
    Wants=coffer-credentials.socket
    After=coffer-credentials.socket

    [Service]
    LoadCredential=\(credential.name):/run/coffer/credentials.sock

    """
  }
}

struct ServiceRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Take a credential from a service.", discussion: "The item and the grant stay.",
    aliases: ["rm"])

  @OptionGroup var service: ServiceArguments

  @OptionGroup var root: ServiceRoot

  func run() throws {
    let credential = try service.credential()
    let subject = "\(credential.unit), \(credential.name)"
    try about(subject) {
      // The drop-in first: what asks for a credential that is not there does not start.
      let hadDropIn = try root.dropIn(credential).remove()
      guard try root.map.remove(credential) || hadDropIn else {
        throw Failure(.notFound, "\(subject): does not exist", hint: "coffer service list")
      }
    }
    Descriptor.error.note("note: to make systemd read it: systemctl daemon-reload\n")
  }
}

struct ServiceList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the credentials of services, and the item of each.", aliases: ["ls"])

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var root: ServiceRoot

  func run() throws {
    let rows = try root.map.credentials().compactMap { credential in
      try root.map.source(of: credential).map { (credential, $0) }
    }
    guard !json else {
      let objects = rows.map { credential, source in
        JSON.object([
          ("unit", .text(credential.unit)), ("name", .text(credential.name)), ("group", .text(source.group.name)),
          ("service", .text(source.service)), ("account", source.account.map { .text($0) } ?? .null),
        ])
      }
      return try Descriptor.output.write(JSON.array(objects).description + "\n")
    }
    let table = Table(
      heading: ["UNIT", "CREDENTIAL", "ITEM"], rows: rows.map { [$0.unit, $0.name, ServiceAdd.text($1)] })
    try Descriptor.output.write(table.text(style: .current()))
  }
}
