/// A value that looks like a secret, and the rule that matched. It never contains the value.
public struct Finding: Sendable, Hashable {
  /// A step from a container to one of its elements.
  public enum Step: Sendable, Hashable {
    case element(Int)
    case member(String)
  }

  /// The name of the rule that matched, such as `github-token`.
  public let rule: String
  /// The key in the domain.
  public let key: String
  /// The steps from the value of the key to the finding; empty if the value itself was found.
  public let steps: [Step]
  /// Whether the last name itself, the key or that of a member, looks like a secret, instead of the value.
  public let isInName: Bool

  public init(rule: String, key: String, steps: [Step] = [], isInName: Bool = false) {
    self.rule = rule
    self.key = key
    self.steps = steps
    self.isInName = isInName
  }

  /// The key and the steps, for people: `servers[2].token`. A key may contain dots and brackets itself, so the path cannot be
  /// parsed. A name that looks like a secret is shortened to four characters.
  public var path: String {
    let hidden = isInName ? steps.count : -1
    return steps.enumerated().reduce(into: Self.shown(key, isHidden: hidden == 0)) { path, step in
      switch step.element {
      case .element(let index): path += "[\(index)]"
      case .member(let name): path += "." + Self.shown(name, isHidden: hidden == step.offset + 1)
      }
    }
  }

  private static func shown(_ name: String, isHidden: Bool) -> String { isHidden ? name.prefix(4) + "…" : name }
}
