internal import AppContainers

/// Why widgets could not be shown, or not be asked for new timelines. One code for each cause.
public struct WidgetError: Error, Equatable, Sendable {
  public struct Code: Hashable, Sendable {
    public let name: String
    private init(_ name: String) { self.name = name }

    /// The program was not started by `coffer app run`: there is no app whose widgets could be meant.
    public static let notInApp = Self("notInApp")
    /// Empty, or too long to be the name of a file.
    public static let kindNotAllowed = Self("kindNotAllowed")
    /// Two widgets of the program have one kind.
    public static let duplicateKind = Self("duplicateKind")
    /// Another program of the app shows this kind.
    public static let kindInUse = Self("kindInUse")
    /// A program that shows nothing.
    public static let noWidgets = Self("noWidgets")
    /// The system cannot tell of requests: the user has used up all inotify instances or watches.
    public static let notWatchable = Self("notWatchable")
    /// The app's container could not be read or written.
    public static let container = Self("container")
  }

  public let code: Code
  /// For people. Not compared.
  public let detail: String

  init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }

  init(_ error: ContainerError) { self.init(.container, error.detail) }

  public static func == (left: WidgetError, right: WidgetError) -> Bool { left.code == right.code }
}

extension WidgetError.Code {
  public static func ~= (code: Self, error: any Error) -> Bool { (error as? WidgetError)?.code == code }
}
