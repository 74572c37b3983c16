import ArgumentParser
import Coffer
import CofferConsole
import ForeignFormats
import ProgramSecrets
import SecretMemory
import VaultCore

struct CredentialAWS: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "aws", abstract: "Give the access key of a profile to programs of AWS.",
    discussion: "In ~/.aws/config or ~/.aws/credentials: credential_process = coffer credential aws PROFILE")

  @Argument(help: "The profile: the account of an item whose service is aws.")
  var profile: String

  @Option(
    help: ArgumentHelp("The group, \"default\" if none is named.", valueName: "name"), completion: OfferedNames.groups)
  var group: String?

  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    try ItemName.check(profile, "profile")
    let items = try access.open(vault)
    let group = try items.group(named: group)
    let name = Item(service: AWSFormat.service, account: profile)
    let purpose = "aws: \(profile)"
    let answer = try about(name.name(in: group ?? .standard)) {
      guard let entry = try items.item(name, in: group) else {
        throw Failure(
          .notFound, "aws/\(profile): no such item", hint: "coffer import aws keeps the profiles of ~/.aws/credentials")
      }
      func quoted(_ secret: borrowing Secret) throws -> HeldSecret { HeldSecret(try SecretFilter.json.apply(to: secret)) }
      func companion(_ field: String) throws -> HeldSecret? {
        try items.item(name.bareCompanion(field), in: group).map {
          try quoted(items.keychain.secret(of: $0.reference, purpose: purpose))
        }
      }
      // An ID of the usual form looks like a secret, and an import makes a companion of it.
      let attribute = try entry.item[AWSFormat.accessKey].map { try quoted(Secret(copying: Array($0.utf8))) }
      guard let key = try attribute ?? companion(AWSFormat.accessKeyField) else {
        throw Failure(.other, "aws/\(profile): has no access key ID", hint: "coffer import aws keeps it with its key")
      }
      let secret = try quoted(items.keychain.secret(of: entry.reference, purpose: purpose))
      var parts = [(#"{"Version":1,"AccessKeyId":"#, key), (#","SecretAccessKey":"#, secret)]
      if let token = try companion(AWSFormat.sessionToken) { parts.append((#","SessionToken":"#, token)) }
      return parts
    }
    for (text, value) in answer {
      try Descriptor.output.write(text)
      try value.secret.withBytes { try Descriptor.output.write($0) }
    }
    try Descriptor.output.write("}\n")
    items.finish()
  }
}
