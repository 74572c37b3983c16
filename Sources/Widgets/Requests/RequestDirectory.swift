internal import AppContainers

/// Where the programs of an app leave requests: `Library/Widgets` in its container.
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

  /// Nil where no program of the app has ever shown a widget.
  func existing() throws(WidgetError) -> RequestDirectory? {
    do throws(ContainerError) {
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
    do throws(ContainerError) {
      var here = try root()
      for name in Self.names { here = try here.makeDirectory(FileName(name)) }
      return RequestDirectory(here)
    } catch {
      throw WidgetError(error)
    }
  }

  private func root() throws(ContainerError) -> OpenDirectory {
    guard let root = try OpenDirectory.root(container, isMade: false) else { throw ContainerError(.missing, container) }
    return root
  }
}

/// That directory, open. A file in it for each kind.
struct RequestDirectory: Sendable {
  let directory: OpenDirectory

  init(_ directory: OpenDirectory) { self.directory = directory }

  /// That some program shows or has shown.
  func kinds() throws(WidgetError) -> [KindName] {
    do throws(ContainerError) { return try directory.names().compactMap { KindName($0) } } catch { throw WidgetError(error) }
  }

  func isShown(_ name: KindName) throws(WidgetError) -> Bool { try KindFile.existing(name, in: directory)?.isClaimed ?? false }

  /// One more request of a kind, if somebody shows it. If not, nothing is kept: who starts to show it asks the provider anyway, and
  /// that is after this call.
  func request(_ name: KindName) throws(WidgetError) {
    // Again only if the file was replaced meanwhile: then whoever shows the kind does not see what was written to this one.
    while let file = try KindFile.existing(name, in: directory) {
      if try file.isClaimed { try file.addRequest() }
      if try file.isInPlace { return }
    }
  }

  func isSame(as other: RequestDirectory) throws(WidgetError) -> Bool {
    try FileIdentity(of: directory.number, directory.path) == FileIdentity(of: other.directory.number, other.directory.path)
  }
}
