package import AccessRights
internal import AppContainers
package import CofferFiles
internal import VaultCore

/// Warnings about manifests that are valid but possibly not as intended.
package enum Lint {
  package static func warnings(about manifest: Manifest) -> [String] {
    var warnings: [String] = []
    if let first = manifest.keychainAccessGroups.first, first.name != manifest.applicationIdentifier {
      warnings.append(
        "items without a group go into \(first), which other apps of the team can read: "
          + "put \(manifest.applicationIdentifier) first to keep them private")
    }
    if !manifest.executables.contains(where: { $0.role == .app || $0.role == .tool }) {
      warnings.append("no executable has the role app or tool: nothing can be started by a person")
    }
    let shared = Set(manifest.keychainAccessGroups.map(\.name)).intersection(manifest.applicationGroups.map(\.name))
    for name in shared.sorted() {
      warnings.append("\(name) is a keychain access group and an application group: the first is enough for secrets")
    }
    return warnings
  }

  /// Warns of executables that the agent will not identify as the app, because the kernel runs another program.
  /// - Throws: `AppsError`: `manifestField`, `executableMissing`; `FileError`.
  package static func warnings(about manifest: Manifest, executablesIn directory: OpenDirectory) throws -> [String] {
    var warnings: [String] = []
    for path in manifest.executables.map(\.path) {
      if try ExecutableContent.open(path, in: directory).isScript {
        warnings.append(
          "\(path) is a script: the agent identifies the interpreter that runs it, and gives it nothing; "
            + "a program that uses the keychain has to be compiled")
      } else if Interpreters.contain(path) {
        warnings.append(
          "\(path) has the name of an interpreter: any script that it runs is taken for the app, and gets the app's items")
      }
    }
    return warnings
  }
}
