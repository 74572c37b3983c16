/// A value that looks like a secret, and why. It never holds the value.
public struct Finding: Sendable, Hashable {
  /// The name of the rule that matched, such as `github-token`.
  public let rule: String
  /// The key, and the path inside its value: `servers[2].token`.
  public let path: String

  public init(rule: String, path: String) {
    self.rule = rule
    self.path = path
  }
}
