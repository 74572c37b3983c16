/// The sizes of Apple's systems. They have no effect except in a renderer that uses them.
public enum WidgetFamily: Sendable, Hashable, CaseIterable {
  /// A small square.
  case systemSmall
  /// A wide rectangle.
  case systemMedium
  /// A large square.
  case systemLarge
  /// The largest rectangle.
  case systemExtraLarge
  /// A small circle.
  case accessoryCircular
  /// A small rectangle.
  case accessoryRectangular
  /// A line of text.
  case accessoryInline
}

extension WidgetConfiguration {
  /// Sets the name of the widget for people.
  public func configurationDisplayName(_ name: String) -> some WidgetConfiguration { modified { $0.displayName = name } }

  /// Sets the description of the widget for people.
  public func description(_ description: String) -> some WidgetConfiguration { modified { $0.description = description } }

  /// The sizes of the widget, for a renderer that lets people choose. `LineRenderer` ignores them.
  public func supportedFamilies(_ families: [WidgetFamily]) -> some WidgetConfiguration { modified { $0.families = families } }

  private func modified(_ change: (inout ConfiguredWidget) -> Void) -> WidgetGroup {
    var widgets = widgets
    for index in widgets.indices { change(&widgets[index]) }
    return WidgetGroup(widgets)
  }
}
