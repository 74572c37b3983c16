import CofferConsole
import VaultCore

extension Outline {
  /// The items of a vault by their groups. Accounts of one service stand below it; another item has a line with its whole name.
  init(_ entries: [Entry]) {
    self.init(columns: [.whole, .cut(to: 8), .begin(10)])
    var group: AccessGroup?
    var service: String?
    for (index, entry) in entries.enumerated() {
      if entry.reference.group != group {
        group = entry.reference.group
        service = nil
        addHeading(entry.reference.group.name, depth: 0)
      }
      let own = entry.serviceWithAccounts
      let isShared =
        own != nil
        && [index - 1, index + 1].contains { other in
          entries.indices.contains(other) && entries[other].reference.group == group && entries[other].serviceWithAccounts == own
        }
      guard isShared, let own else {
        service = nil
        add(entry.name, depth: 1, entry.cells)
        continue
      }
      if service != own { addHeading(own, depth: 1) }
      service = own
      add(ItemName.parts(of: entry.item).account, depth: 2, entry.cells)
    }
  }
}

extension Entry {
  /// The part of the name before the account. nil if the name is not of two parts as it is typed.
  fileprivate var serviceWithAccounts: String? {
    let (service, account) = ItemName.parts(of: item)
    return !account.isEmpty && name.utf8.elementsEqual("\(service)/\(account)".utf8) ? service : nil
  }

  /// The class, if it is not the one that is meant anyway, label, and time of the last change.
  fileprivate var cells: [String] {
    [item.itemClass == .genericPassword ? "" : ClassName(item.itemClass).rawValue, item.label ?? "", item.modified?.text ?? ""]
  }
}
