import CofferConsole
import VaultCore

/// Items that an export or an import leaves where they are.
struct LeftOut {
  enum Reason: String {
    case thisDevice = "this-device"
    case app

    fileprivate var words: String {
      switch self {
      case .thisDevice: "it is of this device only"
      case .app: "it goes when its app is removed"
      }
    }
  }

  private var items: [(entry: Entry, reason: Reason)] = []
  /// Items of a device only that do not open here: not even their names are known.
  private var unreadableCount: Int

  /// - Parameter entries: Loses those that are left out.
  init(of entries: inout [Entry], unreadableCount: Int) {
    self.unreadableCount = unreadableCount
    for entry in entries { if let reason = entry.reasonToStay { items.append((entry, reason)) } }
    entries.removeAll { $0.reasonToStay != nil }
  }

  private var unreadable: String { "\(counted(unreadableCount, "item")) left out: of another device, and not readable here" }

  /// One line for each.
  var lines: [String] {
    items.map { "\($0.entry.nameWithGroup) left out: \($0.reason.words)" } + (unreadableCount > 0 ? [unreadable] : [])
  }

  func note() {
    for line in lines { Descriptor.error.note("note: \(line.escapingControls())\n") }
  }

  var members: [(String, JSON)] {
    let list = items.map { item in
      JSON.object([
        ("name", .text(item.entry.name)), ("group", .text(item.entry.reference.group.name)),
        ("reason", .text(item.reason.rawValue)),
      ])
    }
    return [("leftOut", .array(list)), ("unreadable", .integer(Int64(unreadableCount)))]
  }
}

extension Entry {
  /// nil if it can be copied.
  fileprivate var reasonToStay: LeftOut.Reason? {
    if accessibility.isThisDeviceOnly { return .thisDevice }
    return item.attributes[Item.installBound] == nil ? nil : .app
  }
}
