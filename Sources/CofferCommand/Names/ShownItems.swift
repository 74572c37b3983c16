import Coffer
import VaultCore

extension AccessGroup {
  /// Whether its items are those of Coffer itself, such as the keys of a device: no person looks for them among the own ones.
  fileprivate var isOfCoffer: Bool { name.utf8.starts(with: "coffer.".utf8) }
}

extension [Entry] {
  /// The items of a list for people.
  /// - Parameter group: The group that is asked for: then all of them.
  func shown(of group: AccessGroup?) -> [Entry] { group == nil ? filter { !$0.reference.group.isOfCoffer } : self }
}
