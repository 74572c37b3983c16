import AccessRights
import AppContainers
import CofferFiles
import SecretMemory

/// Directories that a killed process leaves in `Apps`, distinguished by their name.
enum Leftover: String, CaseIterable {
  /// An incomplete new app.
  case new
  /// A complete new app, whose pin may be written or not.
  case ready
  /// The previous app, while the new one replaces it.
  case old
  /// An app that is being removed.
  case removing

  func name(of application: FileName) throws(FileError) -> FileName { try application.beside(rawValue) }

  /// Returns nil for any other name.
  init?(_ name: FileName, _ application: inout String) {
    let text = "\(name)"
    guard text.utf8.first == UInt8(ascii: "."), let dot = text.lastIndex(of: "."), dot > text.startIndex,
      let kind = Leftover(rawValue: String(text[text.index(after: dot)...]))
    else { return nil }
    application = String(text[text.index(after: text.startIndex)..<dot])
    self = kind
  }
}

extension InstalledApps {
  /// Finishes or undoes interrupted operations, according to the vault. An installed app that is not in this vault is kept,
  /// because it may be in another one. A prepared app that is not in this vault is deleted; installing it again repairs that.
  package func recover(in vault: inout some AppRecords & ~Copyable) throws {
    for name in try directory.names() {
      var application = ""
      guard let leftover = Leftover(name, &application) else { continue }
      let pin = try vault.pin(application)
      let replacement = try Replacement(of: FileName(application), in: directory)
      switch leftover {
      case .new: try directory.removeTree(name)
      case .ready: try decide(application, pin, replacement)
      case .old:
        if try !replacement.isReady { try replacement.finish() }
      case .removing:
        guard let pin else { continue }
        if pin.removed == nil {
          try undoRemoval(FileName(application), name)
        } else {
          // A running program of the app still uses its data: try again at the next recovery.
          do { try finishRemoval(application, in: &vault) } catch FileError(.running) {}
        }
      }
    }
  }

  /// The vault's commit decides: an app of the pinned version is put in place, any other one is deleted.
  private func decide(_ application: String, _ pin: AppPin?, _ replacement: Replacement) throws {
    guard let pin, pin.removed == nil,
      let bundle = try Self.unlessDamaged({ try self.bundle(replacement.ready, of: application) }),
      let bundle, bundle.signed.manifest.version == pin.version,
      try Self.unlessDamaged({ try proveExecutables(of: bundle) }) != nil
    else { return try replacement.cancel() }
    try complete(bundle.signed.manifest)
    try replacement.finish()
  }

  /// Returns nil if the files are damaged. Rethrows errors such as too many open files or a failing disk: they do not show
  /// damage, so no file may be deleted because of them.
  static func unlessDamaged<Result>(_ body: () throws -> Result) throws -> Result? {
    do {
      return try body()
    } catch {
      guard isDamage(error) else { throw error }
      return nil
    }
  }

  private static func isDamage(_ error: any Error) -> Bool {
    guard let error = error as? FileError else { return error is AppsError }
    let damages: Set<FileError.Code> = [.missing, .symbolicLink, .notADirectory, .notAFile, .tooLarge, .nameNotAllowed]
    return damages.contains(error.code)
  }

  private func undoRemoval(_ application: FileName, _ marker: FileName) throws {
    let isEmpty = try directory.directory(marker)?.names().isEmpty ?? true
    if try isEmpty || directory.kind(application) != nil {
      try directory.removeTree(marker)
    } else {
      try directory.rename(marker, to: application)
    }
  }
}
