import ArgumentParser
import CofferConsole
import VaultCore

/// Which item.
struct ItemOptions: ParsableArguments {
  @Argument(
    help: "SERVICE/ACCOUNT, SERVICE, coffer://GROUP/SERVICE/ACCOUNT, or a URL.", completion: OfferedNames.items)
  var name: String?

  @Option(help: ArgumentHelp("The service exactly, also with a / in it.", valueName: "text"))
  var service: String?

  @Option(help: ArgumentHelp("The account exactly.", valueName: "text"))
  var account: String?

  @Option(
    help: ArgumentHelp("The group, \"default\" if none is named.", valueName: "name"), completion: OfferedNames.groups)
  var group: String?

  @Option(name: .customLong("class"), help: "The kind of item.")
  var itemClass: ClassName = .genericPassword

  /// - Throws: usage.
  func itemName() throws(Failure) -> ItemName {
    var result: ItemName
    switch (name, service) {
    case (_?, _?): throw .usage("name: given twice, as an argument and by --service")
    case (nil, nil): throw .usage("name: missing", hint: "SERVICE/ACCOUNT, or --service and --account")
    case (let name?, nil): result = try ItemName(parsing: name)
    case (nil, let service?): result = try ItemName(service: service)
    }
    if let account {
      guard result.account == nil else { throw .usage("account: given twice, in the name and by --account") }
      result.account = account
    }
    if let group {
      guard result.group == nil || result.group == group else { throw .usage("group: the name says one, --group another") }
      result.group = group
    }
    var checked = try ItemName(group: result.group, service: result.service, account: result.account, field: result.field)
    checked.url = result.url
    return checked
  }
}

enum ClassName: String, ExpressibleByArgument, CaseIterable {
  case genericPassword = "generic-password"
  case internetPassword = "internet-password"
  case key
  case certificate
  case note

  var itemClass: ItemClass {
    switch self {
    case .genericPassword: .genericPassword
    case .internetPassword: .internetPassword
    case .key: .key
    case .certificate: .certificate
    case .note: .note
    }
  }

  init(_ itemClass: ItemClass) {
    switch itemClass {
    case .genericPassword: self = .genericPassword
    case .internetPassword: self = .internetPassword
    case .key: self = .key
    case .certificate: self = .certificate
    case .note: self = .note
    }
  }
}

enum AccessibilityName: String, ExpressibleByArgument, CaseIterable {
  case whenUnlocked = "when-unlocked"
  case afterFirstUnlock = "after-first-unlock"
  case whenUnlockedThisDevice = "when-unlocked-this-device"
  case afterFirstUnlockThisDevice = "after-first-unlock-this-device"
  case whenPasscodeSetThisDevice = "when-passcode-set-this-device"

  var accessibility: Accessibility {
    switch self {
    case .whenUnlocked: .whenUnlocked
    case .afterFirstUnlock: .afterFirstUnlock
    case .whenUnlockedThisDevice: .whenUnlockedThisDevice
    case .afterFirstUnlockThisDevice: .afterFirstUnlockThisDevice
    case .whenPasscodeSetThisDevice: .whenPasscodeSetThisDevice
    }
  }

  init(_ accessibility: Accessibility) {
    switch accessibility {
    case .whenUnlocked: self = .whenUnlocked
    case .afterFirstUnlock: self = .afterFirstUnlock
    case .whenUnlockedThisDevice: self = .whenUnlockedThisDevice
    case .afterFirstUnlockThisDevice: self = .afterFirstUnlockThisDevice
    case .whenPasscodeSetThisDevice: self = .whenPasscodeSetThisDevice
    }
  }
}
