package import CofferFiles

/// The directories of one app: its own data alone. Removed with the app.
package struct AppContainer: Sendable {
  package let app: FileName
  package let directory: OpenDirectory
  /// In which it lies, with the locks and with what is half-way put in place.
  let siblings: OpenDirectory

  init(_ directory: OpenDirectory, of app: FileName, beside siblings: OpenDirectory) {
    self.app = app
    self.directory = directory
    self.siblings = siblings
  }

  init(completing directory: OpenDirectory, of app: FileName, beside siblings: OpenDirectory) throws(FileError) {
    self.init(directory, of: app, beside: siblings)
    try Self.complete(directory)
  }

  /// Makes the directories that are missing, with the rights that their class asks for.
  static func complete(_ directory: OpenDirectory) throws(FileError) {
    for kind in DirectoryClass.inContainer {
      var here = directory
      for name in try kind.names { here = try here.makeDirectory(name) }
      // Its owner cannot make files in it then, and delivery goes through this module.
      if kind.rules.isReadOnly { try here.setMode(0o500) }
    }
  }

  package func directory(_ kind: DirectoryClass) throws(FileError) -> OpenDirectory {
    guard let directory = try directory.directory(try kind.names) else {
      throw FileError(.missing, "\(directory.path): its directory of \(kind.rawValue)")
    }
    return directory
  }

  package func path(of kind: DirectoryClass) -> String {
    (kind.rules.path ?? []).reduce(directory.path) { Path.join($0, $1) }
  }

  // MARK: Inbox

  /// Puts what another app brought into `Documents/Inbox`: whole or not at all, readable and not writable, under a name that is
  /// free.
  /// - Returns: the name that it has there: `report.pdf`, `report-2.pdf`.
  package func deliver(_ file: OpenFile, as name: FileName) throws(FileError) -> FileName {
    let inbox = try directory(.inbox)
    // Without the lock, two deliveries of the same file name would mix their parts.
    let lock = try DirectoryLock(on: inbox)
    defer { withExtendedLifetime(lock) {} }
    try inbox.setMode(0o700)
    // In any case, and also when the next delivery failed half-way.
    defer { try? inbox.setMode(0o500) }
    let temporary = try name.beside("new", shortened: true)
    try inbox.remove(temporary)
    do throws(FileError) {
      let copy = try inbox.makeFile(temporary)
      while true {
        let part = try file.read()
        if part.isEmpty { break }
        try copy.write(part)
      }
      try copy.setMode(0o400)
      try copy.synchronize()
      var number = 1
      while true {
        let free = number == 1 ? name : try name.numbered(number)
        do throws(FileError) {
          try inbox.rename(temporary, to: free)
          try inbox.synchronize()
          return free
        } catch {
          guard error.code == .exists else { throw error }
        }
        number += 1
      }
    } catch {
      try? inbox.remove(temporary)
      throw error
    }
  }

  /// Removes a delivered file, which the app may do after reading it.
  /// - Throws: `missing`.
  package func removeDelivered(_ name: FileName) throws(FileError) {
    try Self.removeDelivered(name, from: directory(.inbox))
  }

  /// The same for a program of the app, which has its container by the path that it was told.
  package static func removeDelivered(_ name: FileName, from inbox: OpenDirectory) throws(FileError) {
    guard try inbox.kind(name) != nil else { throw FileError(.missing, inbox.below(name)) }
    let lock = try DirectoryLock(on: inbox)
    defer { withExtendedLifetime(lock) {} }
    try inbox.setMode(0o700)
    defer { try? inbox.setMode(0o500) }
    try inbox.removeTree(name)
  }

  /// A new file of the app's, where the class of the directory allows it.
  /// - Throws: `readOnlyDirectory`, also at the top of the container; `exists`, `missing`; what the system says.
  package func makeFile(_ path: RelativePath) throws(FileError) -> OpenFile {
    let above = Array(path.names.dropLast())
    guard let kind = DirectoryClass.of(above), !kind.rules.isReadOnly, let name = path.names.last else {
      throw FileError(.readOnlyDirectory, "\(path)")
    }
    guard let parent = try directory.directory(above) else { throw FileError(.missing, "\(path)") }
    return try parent.makeFile(name)
  }
}

extension FileName {
  /// `.NAME.SUFFIX`, with as much of the name as there is room for.
  fileprivate func beside(_ suffix: String, shortened: Bool) throws(FileError) -> FileName {
    try FileName(bytes: Array(bytes.prefix(Self.maximumByteCount - suffix.utf8.count - 2))).beside(suffix)
  }

  /// `report-2.pdf`.
  fileprivate func numbered(_ number: Int) throws(FileError) -> FileName {
    let dot = bytes.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > 0 ? $0 : nil } ?? bytes.endIndex
    return try FileName(bytes: bytes[..<dot] + Array("-\(number)".utf8) + bytes[dot...])
  }
}
