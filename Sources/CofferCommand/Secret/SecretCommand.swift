import ArgumentParser
import CofferConsole
import VaultCore

struct SecretCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "secret",
    abstract: "Keep secrets, and get them back.",
    subcommands: [
      SecretSet.self, SecretGenerate.self, SecretGet.self, SecretCopy.self, SecretOTP.self, SecretSetOTP.self, SecretList.self,
      SecretFind.self, SecretPick.self, SecretEdit.self, SecretRemove.self, SecretMove.self, SecretDuplicate.self,
      SecretHistory.self, SecretRestore.self, SecretPurge.self, SecretExport.self, SecretClearClipboard.self,
    ]
  )

  func run() throws {
    throw Failure.usage("secret: a verb is missing", hint: "coffer secret --help")
  }
}
