package import CofferConsole
package import CofferLifecycle

extension LifecycleError: Explained {
  package var explanation: Explanation {
    switch code {
    case .backupExists: .init(.duplicate, "there is such a file already", "nothing is replaced: name another file")
    case .isTheVault: .init(.usage, "is the vault itself", "name another file")
    case .nameOfTheVaults: .init(.usage, "is the name of a file of the vault's own", "name another file")
    case .directoryMissing: .init(.inputOutput, "the directory is missing", "make it, for you alone: mkdir -p -m 700 DIRECTORY")
    case .noBackup: .init(.notFound, "holds no backup", "name a file, or make one: coffer vault backup")
    case .onlyReplacedStates:
      .init(
        .notFound, "there is no backup but those that were made before a restore, a repair or a rotation",
        "to take one of them: coffer vault restore FILE")
    case .onlyOtherVaults:
      .init(
        .notFound, "has another id than the vault, which may be damaged",
        "to put it in the place of the vault: coffer vault restore FILE --other-vault")
    case .backupOrderUnclear:
      .init(
        .usage, "the newest backup by its time has not the highest generation",
        "the clock was wrong, or an older vault was accepted; name the file, and see what it has: coffer vault restore --dry-run FILE"
      )
    case .recordsMissing: .init(.integrity, "records are missing", "coffer vault repair lists what is lost")
    case .hasLog:
      .init(
        .other, "its latest changes lie in another file", "coffer vault backup --vault FILE NEW takes both; then restore NEW")
    case .otherVault:
      .init(.denied, "is a backup of another vault", "nothing has been changed; if it is to take this one's place: --other-vault")
    case .agentHasVault: .init(.inputOutput, "an agent has it open", "coffer agent stop")
    case .changedMeanwhile:
      .init(.inputOutput, "other programs write to it", "nothing has been changed; end them, or try again")
    case .policyDamaged:
      .init(
        .integrity, "its policy is damaged; nothing has been changed",
        "coffer vault policy NAME=VALUE makes it anew; then rotate")
    case .openedSlotDropped:
      .init(.usage, "--drop-slot names the slot that opened the vault", "open it in another way, or leave the slot")
    case .itemsOfOtherDevices:
      .init(
        .locked, "items of this device only do not open here; nothing has been changed",
        "rotate where the device key is, or leave them their keys: --leave-device-items")
    case .otherCredential:
      .init(.wrongPassphrase, "another credential than that of the slot; nothing has been changed", "coffer vault slot list")
    }
  }
}
