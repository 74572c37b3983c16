/// The widgets of a program. Bundles may hold others.
///
/// Marked `@main`, it is the program that shows them: the widget extension of an app.
public protocol WidgetBundle {
  associatedtype Body: Widget

  init()
  @WidgetBundleBuilder var body: Body { get }
}

/// Several widgets in the place of one. What `WidgetBundleBuilder` makes.
public struct WidgetGroup: Widget, WidgetConfiguration {
  public let widgets: [ConfiguredWidget]

  public init() { widgets = [] }

  init(_ widgets: [ConfiguredWidget]) { self.widgets = widgets }

  public var body: Self { self }
}

@resultBuilder
public enum WidgetBundleBuilder {
  public static func buildExpression(_ widget: some Widget) -> WidgetGroup { WidgetGroup(widget.body.widgets) }
  /// Apple's code writes `Others().body`; here the bundle itself will do too.
  public static func buildExpression(_ bundle: some WidgetBundle) -> WidgetGroup { WidgetGroup(bundle.body.body.widgets) }
  public static func buildBlock(_ parts: WidgetGroup...) -> WidgetGroup { WidgetGroup(parts.flatMap(\.widgets)) }
  public static func buildOptional(_ part: WidgetGroup?) -> WidgetGroup { part ?? WidgetGroup() }
  public static func buildEither(first part: WidgetGroup) -> WidgetGroup { part }
  public static func buildEither(second part: WidgetGroup) -> WidgetGroup { part }
  public static func buildLimitedAvailability(_ part: WidgetGroup) -> WidgetGroup { part }
}

extension WidgetBundle {
  /// All kinds, also those of the bundles in it, in the order in which they are written.
  public static var kinds: [String] { Self().body.body.widgets.map(\.kind) }

  /// Shows the widgets on standard output until the program is ended. What keeps it from that goes to standard error, and the exit
  /// status is 1.
  @MainActor public static func main() async { await WidgetProgram.run(Self().body.body.widgets) }
}

extension Widget {
  /// As a bundle of one.
  @MainActor public static func main() async { await WidgetProgram.run(Self().body.widgets) }
}
