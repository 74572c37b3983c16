/// The widgets of a program. Bundles may contain other bundles.
///
/// A bundle marked `@main` is a program that shows its widgets: the widget extension of an app.
public protocol WidgetBundle {
  associatedtype Body: Widget

  init()
  @WidgetBundleBuilder var body: Body { get }
}

/// Several widgets in place of one, made by `WidgetBundleBuilder`.
public struct WidgetGroup: Widget, WidgetConfiguration {
  public let widgets: [ConfiguredWidget]

  public init() { widgets = [] }

  init(_ widgets: [ConfiguredWidget]) { self.widgets = widgets }

  public var body: Self { self }
}

@resultBuilder
public enum WidgetBundleBuilder {
  public static func buildExpression(_ widget: some Widget) -> WidgetGroup { WidgetGroup(widget.body.widgets) }
  /// Apple's code writes `Others().body`; here `Others()` works too.
  public static func buildExpression(_ bundle: some WidgetBundle) -> WidgetGroup { WidgetGroup(bundle.body.body.widgets) }
  public static func buildBlock(_ parts: WidgetGroup...) -> WidgetGroup { WidgetGroup(parts.flatMap(\.widgets)) }
  public static func buildOptional(_ part: WidgetGroup?) -> WidgetGroup { part ?? WidgetGroup() }
  public static func buildEither(first part: WidgetGroup) -> WidgetGroup { part }
  public static func buildEither(second part: WidgetGroup) -> WidgetGroup { part }
  public static func buildLimitedAvailability(_ part: WidgetGroup) -> WidgetGroup { part }
}

extension WidgetBundle {
  /// All kinds in the order of their declaration, including those of nested bundles.
  public static var kinds: [String] { Self().body.body.widgets.map(\.kind) }

  /// Shows the widgets on standard output until the process is ended. If that fails, writes the reason to standard error and
  /// exits with status 1.
  @MainActor public static func main() async { await WidgetProgram.run(Self().body.body.widgets) }
}

extension Widget {
  /// Shows this widget only.
  @MainActor public static func main() async { await WidgetProgram.run(Self().body.widgets) }
}
