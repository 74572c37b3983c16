package import CofferFiles

/// A directory that takes the place of another one, so that after a kill at any moment one of them is there, whole.
///
/// It is made under `.NAME.new`, and when it is complete and on the disk it is called `.NAME.ready`. Then the old one is renamed
/// to `.NAME.old`, the new one takes the name, and the old one is removed. After a crash, the next process finds the step by the
/// names: the caller's lock excludes all others.
package struct Replacement {
  package let name: FileName
  package let directory: OpenDirectory
  package let new: FileName
  package let ready: FileName
  private let old: FileName

  package init(of name: FileName, in directory: OpenDirectory) throws(FileError) {
    self.name = name
    self.directory = directory
    new = try name.beside("new")
    ready = try name.beside("ready")
    old = try name.beside("old")
  }

  /// An empty directory for what is going to be there.
  package func begin() throws(FileError) -> OpenDirectory {
    try directory.removeTree(new)
    return try directory.makeDirectory(new)
  }

  /// Marks the new directory as complete and on the disk.
  package func makeReady() throws(FileError) {
    try directory.removeTree(ready)
    try directory.rename(new, to: ready)
    try directory.synchronize()
  }

  package var isReady: Bool {
    get throws(FileError) { try directory.kind(ready) != nil }
  }

  /// Puts what is ready in place. Nothing is ready: does what is left of an earlier time.
  package func finish() throws(FileError) {
    if try isReady {
      if try directory.kind(name) != nil {
        try directory.removeTree(old)
        try directory.rename(name, to: old)
      }
      try directory.rename(ready, to: name)
      try directory.synchronize()
    }
    if try directory.kind(name) != nil {
      try directory.removeTree(old)
    } else if try directory.kind(old) != nil {
      try directory.rename(old, to: name)
    }
  }

  /// Nothing comes of what was begun, nor of what is ready; what was there is there.
  package func cancel() throws(FileError) {
    try directory.removeTree(new)
    if try directory.kind(name) == nil, try directory.kind(old) != nil { try directory.rename(old, to: name) }
    try directory.removeTree(ready)
    try directory.removeTree(old)
  }

  /// Whether a kill has left something to finish, or to cancel.
  package var isUnfinished: Bool {
    get throws(FileError) {
      if try isReady { return true }
      return try directory.kind(old) != nil
    }
  }

  /// All of it goes.
  package func discard() throws(FileError) {
    for leftover in [new, ready, old] { try directory.removeTree(leftover) }
  }
}
