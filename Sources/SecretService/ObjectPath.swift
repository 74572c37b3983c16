/// The objects of the service, by their paths.
enum ObjectPath: Hashable, Sendable {
  case service
  /// - collection: A name, or an alias.
  case collection(CollectionName)
  case item(CollectionName, String)
  case session(String)
  case prompt(String)
  case portal
  /// - path: As the caller of the portal has chosen it.
  case portalRequest(String)

  enum CollectionName: Hashable, Sendable {
    case name(String)
    case alias(String)
  }

  static let root = "/org/freedesktop/secrets"
  static let portalRoot = "/org/freedesktop/portal/desktop"
  static let none = "/"

  /// Returns nil if no object can have this path.
  init?(_ path: String) {
    switch path {
    case Self.root:
      self = .service
      return
    case Self.portalRoot:
      self = .portal
      return
    case _ where path.hasPrefix(Self.portalRoot + "/"):
      self = .portalRequest(path)
      return
    default: break
    }
    guard path.hasPrefix(Self.root + "/") else { return nil }
    let parts = path.dropFirst(Self.root.utf8.count + 1).split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    switch (parts.first, parts.count) {
    case ("collection", 2): self = .collection(.name(parts[1]))
    case ("aliases", 2): self = .collection(.alias(parts[1]))
    case ("collection", 3): self = .item(.name(parts[1]), parts[2])
    case ("aliases", 3): self = .item(.alias(parts[1]), parts[2])
    case ("session", 2): self = .session(parts[1])
    case ("prompt", 2): self = .prompt(parts[1])
    default: return nil
    }
  }

  static func collection(_ name: String) -> String { "\(root)/collection/\(name)" }
  static func item(_ collection: String, _ id: String) -> String { "\(root)/collection/\(collection)/\(id)" }
  static func session(_ id: String) -> String { "\(root)/session/\(id)" }
  static func prompt(_ id: String) -> String { "\(root)/prompt/\(id)" }
}
