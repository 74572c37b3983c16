/// The widgets of a program. Bundles may contain other bundles.
///
/// A bundle marked `@main` is a program that shows its widgets: the widget extension of an app.
public protocol WidgetBundle {
  /// The type of `body`.
  associatedtype Body: Widget

  /// Makes the bundle, without arguments.
  init()
  /// The widgets and bundles of this bundle.
  @WidgetBundleBuilder var body: Body { get }
}

/// Several widgets in place of one, made by `WidgetBundleBuilder`.
public struct WidgetGroup: Widget, WidgetConfiguration {
  /// The widgets of all parts, in order.
  public let widgets: [ConfiguredWidget]

  /// An empty group.
  public init() { widgets = [] }

  init(_ widgets: [ConfiguredWidget]) { self.widgets = widgets }

  /// The group itself.
  public var body: Self { self }
}

/// Builds the body of a bundle from its widgets.
@resultBuilder
public enum WidgetBundleBuilder {
  public static func buildExpression(_ widget: some Widget) -> WidgetGroup { WidgetGroup(widget.body.widgets) }
  /// Apple's code writes `Others().body`; here `Others()` works too.
  public static func buildExpression(_ bundle: some WidgetBundle) -> WidgetGroup { WidgetGroup(bundle.body.body.widgets) }
  /// Joins the parts.
  public static func buildBlock(_ parts: WidgetGroup...) -> WidgetGroup { WidgetGroup(parts.flatMap(\.widgets)) }
  /// The part of an `if` without `else`; empty if the condition is false.
  public static func buildOptional(_ part: WidgetGroup?) -> WidgetGroup { part ?? WidgetGroup() }
  /// The part of an `if`.
  public static func buildEither(first part: WidgetGroup) -> WidgetGroup { part }
  /// The part of an `else`.
  public static func buildEither(second part: WidgetGroup) -> WidgetGroup { part }
  /// The part of an `if #available`.
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
