internal import CofferFiles

/// Requests new timelines of an app's widgets, from any program of the app to the one that shows them.
public final class WidgetCenter: Sendable {
  /// The center of this program.
  public static let shared = WidgetCenter { Environment[$0] }

  private let place: Result<RequestPlace, WidgetError>

  init(environment: (String) -> String?) {
    place = Result { () throws(WidgetError) in try RequestPlace(environment: environment) }
  }

  // MARK: Apple's

  /// Makes the host of this kind call its provider: once for each call, and no other provider. It has no effect if no program
  /// shows the kind, because a host calls the provider first when it starts. Errors are logged.
  public func reloadTimelines(ofKind kind: String) {
    do throws(WidgetError) { try requestReload(ofKind: kind) } catch { Diagnostics.notRequested(error) }
  }

  /// The same for each shown kind of the app.
  public func reloadAllTimelines() {
    do throws(WidgetError) { try requestReload() } catch { Diagnostics.notRequested(error) }
  }

  /// The widgets of the app that a program shows at present.
  public func getCurrentConfigurations(_ completion: (Result<[WidgetInfo], any Error>) -> Void) {
    completion(Result { try shown() })
  }

  /// The kinds of widgets that programs of the app show now.
  /// - Throws: `WidgetError`, if the program belongs to no app or the container cannot be read.
  public func currentConfigurations() async throws -> [WidgetInfo] { try shown() }

  // MARK: Variants that throw

  /// After this returns, the host of the kind will call its provider, even if this process is killed at once.
  /// - Throws: `notInApp`, `kindNotAllowed`, `container`.
  public func requestReload(ofKind kind: String) throws(WidgetError) {
    let name = try KindName(kind)
    guard let directory = try place.get().existing() else { return }
    try directory.request(name)
  }

  /// - Throws: `notInApp`, `container`.
  public func requestReload() throws(WidgetError) {
    guard let directory = try place.get().existing() else { return }
    for name in try directory.kinds() { try directory.request(name) }
  }

  private func shown() throws(WidgetError) -> [WidgetInfo] {
    guard let directory = try place.get().existing() else { return [] }
    var shown: [WidgetInfo] = []
    for name in try directory.kinds() where try directory.isShown(name) { shown.append(WidgetInfo(kind: name.kind)) }
    return shown
  }
}

/// A widget that a program shows.
public struct WidgetInfo: Sendable, Hashable, Identifiable {
  /// The kind of the widget.
  public let kind: String

  public var id: String { kind }
}
