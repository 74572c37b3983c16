internal import AppContainers
import CofferFiles

/// The directory for requests of an app's programs: `Library/Widgets` in its container.
struct RequestPlace: Sendable {
  private static let names = ["Library", "Widgets"]

  private let container: String

  /// - Throws: `notInApp`.
  init(environment: (String) -> String?) throws(WidgetError) {
    guard let app = RunningApp(environment: environment) else {
      throw WidgetError(.notInApp, "widgets belong to an app: coffer app run must start the program")
    }
    container = app.container
  }

  /// nil if no program of the app has ever shown a widget.
  func existing() throws(WidgetError) -> RequestDirectory? {
    do throws(FileError) {
      var here = try root()
      for name in Self.names {
        guard let next = try here.directory(FileName(name)) else { return nil }
        here = next
      }
      return RequestDirectory(here)
    } catch {
      throw WidgetError(error)
    }
  }

  func made() throws(WidgetError) -> RequestDirectory {
    do throws(FileError) {
      var here = try root()
      for name in Self.names { here = try here.makeDirectory(FileName(name)) }
      return RequestDirectory(here)
    } catch {
      throw WidgetError(error)
    }
  }

  private func root() throws(FileError) -> OpenDirectory {
    guard let root = try OpenDirectory.root(container, isMade: false) else { throw FileError(.missing, container) }
    return root
  }
}

/// The open directory, with a file for each kind.
struct RequestDirectory: Sendable {
  let directory: OpenDirectory

  init(_ directory: OpenDirectory) { self.directory = directory }

  /// The kinds that a program shows or has shown.
  func kinds() throws(WidgetError) -> [KindName] {
    do throws(FileError) { return try directory.names().compactMap { KindName($0) } } catch { throw WidgetError(error) }
  }

  func isShown(_ name: KindName) throws(WidgetError) -> Bool { try KindFile.existing(name, in: directory)?.isClaimed ?? false }

  /// Adds a request for a kind if a program shows it. Otherwise none is kept: a host that starts later calls the provider first
  /// anyway.
  func request(_ name: KindName) throws(WidgetError) {
    // Repeated only if the file was replaced meanwhile, because the host of the kind does not see writes to the old one.
    while let file = try KindFile.existing(name, in: directory) {
      if try file.isClaimed { try file.addRequest() }
      if try file.isInPlace { return }
    }
  }

  func isSame(as other: RequestDirectory) throws(WidgetError) -> Bool {
    do throws(FileError) { return try directory.status().isSameFile(as: other.directory.status()) } catch {
      throw WidgetError(error)
    }
  }
}
