internal import AppContainers
import CofferFiles

/// The reason why widgets could not be shown, or timelines not be requested. One code for each cause.
public struct WidgetError: Error, Equatable, Sendable {
  /// The cause of an error.
  public struct Code: Hashable, Sendable {
    /// The name of the cause, for messages and logs.
    public let name: String
    private init(_ name: String) { self.name = name }

    /// The program was not started by `coffer app run`, so it belongs to no app.
    public static let notInApp = Self("notInApp")
    /// A kind that is empty, or too long for a file name.
    public static let kindNotAllowed = Self("kindNotAllowed")
    /// Two widgets of the program have the same kind.
    public static let duplicateKind = Self("duplicateKind")
    /// Another program of the app shows this kind.
    public static let kindInUse = Self("kindInUse")
    /// The program has no widgets to show.
    public static let noWidgets = Self("noWidgets")
    /// Requests cannot be watched: the user's inotify instances or watches are exhausted.
    public static let notWatchable = Self("notWatchable")
    /// The app's container could not be read or written.
    public static let container = Self("container")
  }

  /// The cause.
  public let code: Code
  /// For people. Not compared.
  public let detail: String

  init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }

  init(_ error: FileError) { self.init(.container, error.detail) }

  public static func == (left: WidgetError, right: WidgetError) -> Bool { left.code == right.code }
}

extension WidgetError.Code {
  /// Matches an error in `catch WidgetError.Code.x`.
  public static func ~= (code: Self, error: any Error) -> Bool { (error as? WidgetError)?.code == code }
}
