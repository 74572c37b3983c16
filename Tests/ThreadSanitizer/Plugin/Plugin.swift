import Foundation
import PackagePlugin

/// Adds `Mutex.swift` to a module, see there.
@main struct Plugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let file = context.package.directoryURL.appending(path: "Tests/ThreadSanitizer/Mutex.swift")
    let copy = context.pluginWorkDirectoryURL.appending(path: "Mutex.swift")
    return [
      .buildCommand(
        displayName: "Mutex of \(target.name)", executable: URL(filePath: "/bin/cp"), arguments: [file.path, copy.path],
        inputFiles: [file], outputFiles: [copy])
    ]
  }
}
