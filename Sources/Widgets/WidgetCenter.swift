internal import Foundation

/// Where the programs of an app ask for new timelines of its widgets, whichever program shows them.
public final class WidgetCenter: Sendable {
  public static let shared = WidgetCenter { ProcessInfo.processInfo.environment[$0] }

  private let place: Result<RequestPlace, WidgetError>

  init(environment: (String) -> String?) {
    place = Result { () throws(WidgetError) in try RequestPlace(environment: environment) }
  }

  // MARK: Apple's

  /// Has the provider of this kind asked for a new timeline: once for each call, and others not at all. Where nobody shows the kind it
  /// does nothing: whoever starts to show it asks the provider first. What went wrong is in the log.
  public func reloadTimelines(ofKind kind: String) {
    do throws(WidgetError) { try requestReload(ofKind: kind) } catch { Diagnostics.notRequested(error) }
  }

  /// The same for each kind of the app that is shown.
  public func reloadAllTimelines() {
    do throws(WidgetError) { try requestReload() } catch { Diagnostics.notRequested(error) }
  }

  /// The widgets of the app that a program shows now.
  public func getCurrentConfigurations(_ completion: (Result<[WidgetInfo], any Error>) -> Void) {
    completion(Result { try shown() })
  }

  public func currentConfigurations() async throws -> [WidgetInfo] { try shown() }

  // MARK: And with errors

  /// When it returns, the program that shows the kind asks its provider, even if this one is killed at once.
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

/// A widget that is shown.
public struct WidgetInfo: Sendable, Hashable, Identifiable {
  public let kind: String

  public var id: String { kind }
}
