import AppContainers
import VaultCore

/// What a process that was killed leaves in `Apps`, told by its name.
enum Leftover: String, CaseIterable {
  /// Half of a new app.
  case new
  /// A whole one, whose pin may be written or not.
  case ready
  /// The one before, while the new one takes its place.
  case old
  /// One that is being removed.
  case removing

  func name(of application: FileName) throws(ContainerError) -> FileName { try application.beside(rawValue) }

  /// Nil for everything else.
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
  /// Finishes or undoes what was interrupted, as the vault says. An installed app that this vault does not know stays: another vault
  /// may. What was only made ready for one goes: no vault that is open here says that it was installed, and installing again repairs it.
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
          // A program of it that runs still keeps its data: another time.
          do { try finishRemoval(application, in: &vault) } catch ContainerError.Code.running {}
        }
      }
    }
  }

  /// The commit of the vault was the moment: an app of the version that the pin says goes in place, any other goes.
  private func decide(_ application: String, _ pin: AppPin?, _ replacement: Replacement) throws {
    guard let pin, pin.removed == nil,
      let bundle = try Self.unlessDamaged({ try self.bundle(replacement.ready, of: application) }),
      let bundle, bundle.signed.manifest.version == pin.version,
      try Self.unlessDamaged({ try proveExecutables(of: bundle) }) != nil
    else { return try replacement.cancel() }
    try complete(bundle.signed.manifest)
    try replacement.finish()
  }

  /// Nil where what lies there is wrong. What could not be read this time, with too many open files or a disk that fails, is an error:
  /// it says nothing about the app, and nothing may be deleted for it.
  static func unlessDamaged<Result>(_ body: () throws -> Result) throws -> Result? {
    do {
      return try body()
    } catch {
      guard isDamage(error) else { throw error }
      return nil
    }
  }

  private static func isDamage(_ error: any Error) -> Bool {
    guard let error = error as? ContainerError else { return error is AppsError }
    let damages: Set<ContainerError.Code> = [.missing, .symbolicLink, .notADirectory, .notAFile, .tooLarge, .nameNotAllowed]
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
