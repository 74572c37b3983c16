extension FileStore {
  /// The path of the copy that a conversion has made of the vault as it was.
  package static func draftCopy(ofVaultAt path: String) -> String { "\(path).draft" }

  /// Whether a path is that of a file which a vault has, or gets, beside it: its log, its lock, the copy of its draft. Another file of that
  /// name would be taken for it.
  package static func isOwnFile(_ path: String, ofVaultAt vault: String) -> Bool {
    guard let other = try? Location(path), let own = try? Location(vault) else { return false }
    return [own.log, own.logIndex, own.journal, own.lock, draftCopy(ofVaultAt: own.path)].contains(other.path)
  }
}
