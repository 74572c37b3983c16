/// The class of an item. It decides which attributes distinguish two items of a group. Sections 8.4 and 8.5 of FORMAT.md.
public enum ItemClass: UInt8, CaseIterable, Sendable {
  /// A password of a service: primary attributes `service` and `account`.
  case genericPassword = 1
  /// A password of a server: primary attributes such as `server` and `account`.
  case internetPassword
  /// A key: primary attributes such as `application-label` and `application-tag`.
  case key
  /// A certificate: primary attributes `certificate-type`, `issuer` and `serial-number`.
  case certificate
  /// A note: primary attribute `title`.
  case note

  /// The attributes that make an item unique within its group, with the value that stands for "absent". As Apple's keychain has
  /// them for `kSecClassGenericPassword`, `…InternetPassword`, `…Key`, `…Certificate` (the access group apart); the note is ours.
  public var primaryAttributes: [(name: String, absent: AttributeValue)] {
    switch self {
    case .genericPassword:
      [("account", .text("")), ("service", .text(""))]
    case .internetPassword:
      [
        ("account", .text("")), ("authentication-type", .text("")), ("path", .text("")), ("port", .integer(0)),
        ("protocol", .text("")), ("security-domain", .text("")), ("server", .text("")),
      ]
    case .key:
      [
        ("application-label", .data([])), ("application-tag", .data([])), ("creator", .integer(0)),
        ("effective-key-size", .integer(0)), ("end-date", .time(Timestamp(secondsSince1970: 0))), ("key-class", .text("")),
        ("key-size", .integer(0)), ("key-type", .text("")), ("start-date", .time(Timestamp(secondsSince1970: 0))),
      ]
    case .certificate:
      [("certificate-type", .integer(0)), ("issuer", .data([])), ("serial-number", .data([]))]
    case .note:
      [("title", .text(""))]
    }
  }

  /// Attributes that every class has, with their types.
  static let commonAttributes: [(name: String, absent: AttributeValue)] = [
    ("comment", .text("")), (Item.confirm, .integer(0)), ("content-type", .text("")),
    ("created", .time(Timestamp(secondsSince1970: 0))), (Item.installBound, .text("")), ("label", .text("")),
    ("modified", .time(Timestamp(secondsSince1970: 0))),
  ]
}

/// When the key of an item may be had, and whether it leaves the machine. The names are those of Apple's `kSecAttrAccessible…`.
public enum Accessibility: UInt8, CaseIterable, Sendable {
  /// While the vault is unlocked.
  case whenUnlocked = 1
  /// From the first unlock on, also while the vault is locked again.
  case afterFirstUnlock
  /// While the vault is unlocked, with the key of this device.
  case whenUnlockedThisDevice
  /// From the first unlock on, with the key of this device.
  case afterFirstUnlockThisDevice
  /// Needs a passphrase slot; goes with the last one.
  case whenPasscodeSetThisDevice

  /// Whether the key is sealed under the device key, so that a copy of the vault on another machine does not open the item.
  public var isThisDeviceOnly: Bool { rawValue >= Self.whenUnlockedThisDevice.rawValue }

  /// Whether items of the class can be used while the vault is locked, once it was unlocked.
  public var isKeptWhileLocked: Bool { self == .afterFirstUnlock || self == .afterFirstUnlockThisDevice }
}
