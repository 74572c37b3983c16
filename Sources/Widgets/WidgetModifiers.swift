/// The sizes of Apple's systems. Here they are only kept for the renderer.
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
  /// What people call the widget.
  public func configurationDisplayName(_ name: String) -> some WidgetConfiguration { modified { $0.displayName = name } }

  /// What people are told of the widget.
  public func description(_ description: String) -> some WidgetConfiguration { modified { $0.description = description } }

  public func supportedFamilies(_ families: [WidgetFamily]) -> some WidgetConfiguration { modified { $0.families = families } }

  private func modified(_ change: (inout ConfiguredWidget) -> Void) -> WidgetGroup {
    var widgets = widgets
    for index in widgets.indices { change(&widgets[index]) }
    return WidgetGroup(widgets)
  }
}
