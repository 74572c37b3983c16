extension FileStore {
  /// Whether a path is that of a file which a vault has, or gets, beside it: its log, its lock, the copy of its draft. Another file of that
  /// name would be taken for it.
  package static func isOwnFile(_ path: String, ofVaultAt vault: String) -> Bool {
    guard let other = try? Location(path), let own = try? Location(vault) else { return false }
    return [own.log, own.logIndex, own.journal, own.lock, "\(own.path).draft"].contains(other.path)
  }
}
