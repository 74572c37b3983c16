import ArgumentParser
import CofferConsole
import CofferLifecycle
import SecretMemory
import VaultCore

/// The options of the commands that make new keys.
struct RotationOptions: ParsableArguments {
  @Option(
    parsing: .singleValue, help: ArgumentHelp("Leave this slot out: it is gone afterwards. May be repeated.", valueName: "slot"))
  var dropSlot: [Int] = []

  @Flag(help: "A new recovery key in the place of the one there is, printed once.")
  var newRecoveryKey = false

  @Option(
    name: .customLong("slot-passphrase-fd"), parsing: .singleValue,
    help: ArgumentHelp("Read the passphrase of a slot from an open descriptor. May be repeated.", valueName: "slot=n"))
  var slotPassphrases: [String] = []

  @Option(
    name: .customLong("slot-key-file"), parsing: .singleValue,
    help: ArgumentHelp("The key file of a slot. May be repeated.", valueName: "slot=file"))
  var slotKeyFiles: [String] = []

  @Flag(help: "A new key of this device for the vault, too.")
  var deviceKey = false

  @Flag(help: "Items of other devices keep their keys.")
  var leaveDeviceItems = false

  @Flag(help: "Keep the backup that is made before, also with --leaked and --prune-backups.")
  var keepBackup = false

  @Flag(help: "At the end, remove the vault's backups of before.")
  var pruneBackups = false

  @Flag(help: "Do not ask.")
  var force = false

  /// Whether one is given that is about slots.
  var concernsSlots: Bool {
    newRecoveryKey || !dropSlot.isEmpty || !slotPassphrases.isEmpty || !slotKeyFiles.isEmpty
  }

  /// Whether one is given.
  var isUsed: Bool { concernsSlots || deviceKey || leaveDeviceItems || keepBackup || pruneBackups || force }

  var order: RotationOrder {
    var order = RotationOrder()
    order.droppedSlots = Set(dropSlot)
    order.renewsRecoveryKey = newRecoveryKey
    order.renewsDevice = deviceKey
    order.leavesDeviceItems = leaveDeviceItems
    order.keepsBackup = keepBackup
    order.prunesBackups = pruneBackups
    return order
  }

  /// Slots and the values that were given for them.
  /// - Throws: usage.
  func given(_ texts: [String], _ option: String) throws(Failure) -> [Int: String] {
    var given: [Int: String] = [:]
    for text in texts {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let slot = Int(parts[0]), SlotDescription.indices.contains(slot), !parts[1].isEmpty else {
        throw .usage("\(option) \(text): needs a slot and a value", hint: "coffer vault slot list shows the slots")
      }
      guard given[slot] == nil else { throw .usage("\(option): slot \(slot) is given twice") }
      given[slot] = String(parts[1])
    }
    return given
  }
}
