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
      guard let key = entry.item[AWSFormat.accessKey] else {
        throw Failure(
          .other, "aws/\(profile): has no access key ID", hint: "coffer secret edit aws/\(profile) --attr aws.access-key-id=ID")
      }
      let secret = try items.keychain.secret(of: entry.reference, purpose: purpose)
      let token = try items.item(name.bareCompanion(AWSFormat.sessionToken), in: group)
      var parts: [(String, HeldSecret)] = [
        (#"{"Version":1,"AccessKeyId":"#, HeldSecret(try SecretFilter.json.apply(to: Secret(copying: Array(key.utf8))))),
        (#","SecretAccessKey":"#, HeldSecret(try SecretFilter.json.apply(to: secret))),
      ]
      if let token {
        let value = try items.keychain.secret(of: token.reference, purpose: purpose)
        parts.append((#","SessionToken":"#, HeldSecret(try SecretFilter.json.apply(to: value))))
      }
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
