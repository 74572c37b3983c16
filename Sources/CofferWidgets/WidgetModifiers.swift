/// The sizes of Apple's systems. They have no effect except in a renderer that uses them.
public enum WidgetFamily: Sendable, Hashable, CaseIterable {
  case systemSmall
  case systemMedium
  case systemLarge
  case systemExtraLarge
  case accessoryCircular
  case accessoryRectangular
  case accessoryInline
}

extension WidgetConfiguration {
  /// Sets the name of the widget for people.
  public func configurationDisplayName(_ name: String) -> some WidgetConfiguration { modified { $0.displayName = name } }

  /// Sets the description of the widget for people.
  public func description(_ description: String) -> some WidgetConfiguration { modified { $0.description = description } }

  public func supportedFamilies(_ families: [WidgetFamily]) -> some WidgetConfiguration { modified { $0.families = families } }

  private func modified(_ change: (inout ConfiguredWidget) -> Void) -> WidgetGroup {
    var widgets = widgets
    for index in widgets.indices { change(&widgets[index]) }
    return WidgetGroup(widgets)
  }
}
