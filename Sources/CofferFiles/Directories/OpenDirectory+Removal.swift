internal import CLinux
internal import Glibc

extension OpenDirectory {
  /// How often another process may make a file in a directory while it is removed.
  private static let mostRetries = 100

  /// Removes a directory with its content, a file, or a link itself. Does nothing if it does not exist.
  /// - Throws: what the system says, also where another file system is mounted in there.
  package func removeTree(_ name: FileName) throws(FileError) {
    guard try kind(name) == .directory else { return try remove(name) }
    guard let directory = try opening(name) else { return }
    try directory.removeContents()
    try remove(name, isDirectory: true)
  }

  /// All that is in this directory.
  ///
  /// The tree may be of any depth. So no call goes down: a directory that is not empty gives
  /// what is in it to this one, until nothing is left. Two descriptors are enough.
  package func removeContents() throws(FileError) {
    var (counter, retries) = (0, 0)
    while true {
      let names = try names()
      if names.isEmpty { return }
      for name in names {
        guard try kind(name) == .directory else {
          try remove(name)
          continue
        }
        if unsafe unlinkat(number, name.terminated, AT_REMOVEDIR) == 0 { continue }
        guard let below = try opening(name) else { continue }
        for inner in try below.names() {
          guard try below.kind(inner) == .directory else {
            try below.remove(inner)
            continue
          }
          if unsafe unlinkat(below.number, inner.terminated, AT_REMOVEDIR) == 0 { continue }
          // A directory that is moved changes itself too, and so must be open to its owner.
          _ = try below.opening(inner)
          try below.rename(inner, to: try freeName(&counter), in: self)
        }
        do {
          try remove(name, isDirectory: true)
        } catch  where error.code == .exists && retries < Self.mostRetries {
          // Another process has made a file in it meanwhile.
          retries += 1
        }
      }
    }
  }

  /// With the rights to change it: they may have been taken away, and the owner may give them back.
  private func opening(_ name: FileName) throws(FileError) -> OpenDirectory? {
    guard let status = try status(name) else { return nil }
    if status.mode & 0o700 != 0o700 {
      // Not fchmod: a directory without r does not open. A link put there meanwhile is not followed, and is not a directory then.
      try setMode(0o700, of: name)
    }
    return try directory(name)
  }

  private func freeName(_ counter: inout Int) throws(FileError) -> FileName {
    while true {
      counter += 1
      let name = try FileName(".removed-\(counter)")
      if try kind(name) == nil { return name }
    }
  }
}
