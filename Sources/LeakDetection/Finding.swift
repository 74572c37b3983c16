/// A value that looks like a secret, and why. It never holds the value.
public struct Finding: Sendable, Hashable {
  /// From a container to what lies in it.
  public enum Step: Sendable, Hashable {
    case element(Int)
    case member(String)
  }

  /// The name of the rule that matched, such as `github-token`.
  public let rule: String
  /// The key in the domain.
  public let key: String
  /// From the value of the key to the one that was found; empty where it is that value itself.
  public let steps: [Step]

  public init(rule: String, key: String, steps: [Step] = []) {
    self.rule = rule
    self.key = key
    self.steps = steps
  }

  /// The key and the steps, for people: `servers[2].token`. A key may hold dots and brackets itself, so this is no way back.
  public var path: String {
    steps.reduce(into: key) { path, step in
      switch step {
      case .element(let index): path += "[\(index)]"
      case .member(let name): path += ".\(name)"
      }
    }
  }
}
