/// The interfaces of the service's objects, as clients may ask for them.
struct Interface: Sendable {
  struct Method: Sendable {
    let name: String
    /// The signatures of the arguments.
    let input: [String]
    let output: [String]
    /// Whether the calls of one program must keep their order.
    var isChange = false
  }

  let name: String
  var methods: [Method] = []
  var properties: [(name: String, type: String, isWritable: Bool)] = []
  var signals: [(name: String, types: [String])] = []

  private static let prefix = "org.freedesktop.Secret."
  static let properties = "org.freedesktop.DBus.Properties"
  static let introspectable = "org.freedesktop.DBus.Introspectable"

  static let service = Interface(
    name: prefix + "Service",
    methods: [
      Method(name: "OpenSession", input: ["s", "v"], output: ["v", "o"]),
      Method(name: "CreateCollection", input: ["a{sv}", "s"], output: ["o", "o"], isChange: true),
      Method(name: "SearchItems", input: ["a{ss}"], output: ["ao", "ao"]),
      Method(name: "Unlock", input: ["ao"], output: ["ao", "o"]),
      Method(name: "Lock", input: ["ao"], output: ["ao", "o"], isChange: true),
      Method(name: "GetSecrets", input: ["ao", "o"], output: ["a{o(oayays)}"]),
      Method(name: "ReadAlias", input: ["s"], output: ["o"]),
      Method(name: "SetAlias", input: ["s", "o"], output: [], isChange: true),
    ],
    properties: [("Collections", "ao", false)],
    signals: [("CollectionCreated", ["o"]), ("CollectionDeleted", ["o"]), ("CollectionChanged", ["o"])])

  static let collection = Interface(
    name: prefix + "Collection",
    methods: [
      Method(name: "Delete", input: [], output: ["o"], isChange: true),
      Method(name: "SearchItems", input: ["a{ss}"], output: ["ao"]),
      Method(name: "CreateItem", input: ["a{sv}", "(oayays)", "b"], output: ["o", "o"], isChange: true),
    ],
    properties: [
      ("Items", "ao", false), ("Label", "s", true), ("Locked", "b", false), ("Created", "t", false), ("Modified", "t", false),
    ],
    signals: [("ItemCreated", ["o"]), ("ItemDeleted", ["o"]), ("ItemChanged", ["o"])])

  static let item = Interface(
    name: prefix + "Item",
    methods: [
      Method(name: "Delete", input: [], output: ["o"], isChange: true),
      Method(name: "GetSecret", input: ["o"], output: ["(oayays)"]),
      Method(name: "SetSecret", input: ["(oayays)"], output: [], isChange: true),
    ],
    properties: [
      ("Locked", "b", false), ("Attributes", "a{ss}", true), ("Label", "s", true), ("Created", "t", false),
      ("Modified", "t", false),
    ])

  static let session = Interface(name: prefix + "Session", methods: [Method(name: "Close", input: [], output: [])])

  static let prompt = Interface(
    name: prefix + "Prompt",
    methods: [Method(name: "Prompt", input: ["s"], output: []), Method(name: "Dismiss", input: [], output: [])],
    signals: [("Completed", ["b", "v"])])

  /// By which `coffer import secret-service` knows `coffer-secrets` with its own agent.
  static let agent = Interface(name: "coffer.SecretService", properties: [(agentPath, "s", false)])
  static let agentPath = "Agent"

  /// xdg-desktop-portal is its only caller.
  static let portal = Interface(
    name: "org.freedesktop.impl.portal.Secret",
    methods: [Method(name: retrieve, input: ["o", "s", "h", "a{sv}"], output: ["u", "a{sv}"])],
    properties: [("version", "u", false)])
  static let retrieve = "RetrieveSecret"
  static let portalRequest = Interface(
    name: "org.freedesktop.impl.portal.Request", methods: [Method(name: "Close", input: [], output: [])])

  private static let standard = [
    Interface(
      name: properties,
      methods: [
        Method(name: "Get", input: ["s", "s"], output: ["v"]), Method(name: "GetAll", input: ["s"], output: ["a{sv}"]),
        Method(name: "Set", input: ["s", "s", "v"], output: [], isChange: true),
      ], signals: [("PropertiesChanged", ["s", "a{sv}", "as"])]),
    Interface(name: introspectable, methods: [Method(name: "Introspect", input: [], output: ["s"])]),
  ]

  static func own(of path: ObjectPath) -> Interface {
    switch path {
    case .service: service
    case .collection: collection
    case .item: item
    case .session: session
    case .prompt: prompt
    case .portal: portal
    case .portalRequest: portalRequest
    }
  }

  /// The method that a call means. The name of the interface may be left out of a call.
  static func method(_ interface: String, _ member: String, of path: ObjectPath) -> (Interface, Method)? {
    for known in [own(of: path)] + standard where interface.isEmpty || interface == known.name {
      if let method = known.methods.first(where: { $0.name == member }) { return (known, method) }
    }
    return nil
  }

  static func introspection(of path: ObjectPath) -> String {
    "<!DOCTYPE node PUBLIC \"-//freedesktop//DTD D-BUS Object Introspection 1.0//EN\" "
      + "\"http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd\">\n<node>\n"
      + ([own(of: path)] + (path == .service ? [agent] : []) + standard).map(\.description).joined() + "</node>\n"
  }

  private var description: String {
    func arguments(_ types: [String], _ direction: String) -> String {
      types.map { "<arg type=\"\($0)\"\(direction)/>" }.joined()
    }
    let methods = methods.map {
      "<method name=\"\($0.name)\">\(arguments($0.input, " direction=\"in\""))\(arguments($0.output, " direction=\"out\""))</method>\n"
    }
    let properties = properties.map {
      "<property name=\"\($0.name)\" type=\"\($0.type)\" access=\"\($0.isWritable ? "readwrite" : "read")\"/>\n"
    }
    let signals = signals.map { "<signal name=\"\($0.name)\">\(arguments($0.types, ""))</signal>\n" }
    return "<interface name=\"\(name)\">\n\((methods + properties + signals).joined())</interface>\n"
  }
}
