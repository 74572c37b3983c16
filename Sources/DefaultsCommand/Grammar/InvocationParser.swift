internal import CofferPropertyLists

/// Reads the arguments as macOS' `defaults` does: `[-currentHost | -host NAME] VERB …`.
///
/// It differs if macOS would store what was not meant: a type that does not exist is not taken for a text, a number that is none not
/// for 0, an argument too many is not overlooked. Options of `coffer`'s own, such as `--json`, stand right behind the verb or at the
/// very end; `--` behind the verb says that there are none.
extension DefaultsInvocation {
  /// - Parameter arguments: without the name of the program.
  /// - Throws: status `usage`, or `failed` with what macOS says.
  package static func parse(_ arguments: [String]) throws(DefaultsFailure) -> DefaultsInvocation {
    var queue = ArgumentQueue(arguments)
    var host = Host.any
    if queue.take("-currentHost") {
      host = .current
    } else if queue.take("-host") {
      host = .named(try queue.take(orSay: "-host: the name of a host is missing"))
    }
    let word = try queue.take(orSay: "a verb is missing")
    if word == "--help" || word == "-h" { return DefaultsInvocation(host: host, .help) }
    guard let verb = DefaultsVerb(argument: word) else { throw .usage("\(word): no such verb") }
    if queue.next == "--help" || queue.next == "-h" { return DefaultsInvocation(host: host, .help) }
    if verb == .doctor, let move = try moveSecrets(queue) { return DefaultsInvocation(host: host, move) }
    var container: String?
    if queue.take("-container") {
      guard verb.takesContainer else { throw .usage("\(verb.rawValue): unexpected argument -container") }
      container = try queue.take(orSay: "-container: the name of an app or a group is missing")
    }
    let options = try Options(&queue, verb)
    return DefaultsInvocation(
      host: host, container: container, try options.isInput ? writeInput(&queue) : request(verb, &queue), isJSON: options.isJSON,
      isNoSecret: options.isNoSecret)
  }

  private static func request(_ verb: DefaultsVerb, _ queue: inout ArgumentQueue) throws(DefaultsFailure) -> Request {
    let request: Request
    switch verb {
    case .read where queue.isEmpty: request = .readAll
    case .read: request = .read(try domain(&queue, verb), key: queue.take())
    case .readType: request = .readType(try domain(&queue, verb), key: try key(&queue, verb))
    case .write: return try write(&queue)
    case .rename:
      request = .rename(
        try domain(&queue, verb), old: try key(&queue, verb), new: try queue.take(orSay: "rename: the new key is missing"))
    case .delete: request = .delete(try domain(&queue, verb), key: queue.take())
    case .import:
      let domain = try domain(&queue, verb)
      guard let path = queue.take() else { throw .said("Need a path to read from") }
      request = .importFile(domain, path: path)
    case .export:
      let domain = try domain(&queue, verb)
      guard let path = queue.take() else { throw .said("Need a path to write to") }
      request = .exportFile(domain, path: path)
    case .domains: request = .domains
    case .find: request = .find(try queue.take(orSay: "find: a word is missing"))
    case .explain: request = .explain(try domain(&queue, verb), key: try key(&queue, verb))
    case .watch:
      request = .watch(queue.isEmpty ? nil : try domain(&queue, verb), key: queue.take())
    case .diff: request = .diff(try domain(&queue, verb), try fileOrDomain(&queue))
    case .doctor: request = .doctor
    case .printHostIdentifier: request = .hostIdentifier
    case .help: return .help
    }
    try queue.finish(verb)
    return request
  }

  /// `doctor --move [DOMAIN [KEY]] [OPTION …]`
  private static func moveSecrets(_ arguments: ArgumentQueue) throws(DefaultsFailure) -> Request? {
    var queue = arguments
    let isJSON = queue.take("--json")
    guard queue.take("--move") else { return nil }
    func isOption(_ word: String?) -> Bool { word?.hasPrefix("--") ?? true }
    let domain = isOption(queue.next) ? nil : try domain(&queue, .doctor)
    let isQuoted = domain != nil && queue.take("--")
    let key = domain == nil || !isQuoted && isOption(queue.next) ? nil : queue.take()
    var options = isJSON ? ["--json"] : []
    while let option = queue.take() { options.append(option) }
    return .moveSecrets(domain, key: key, options: options)
  }

  private static func key(_ queue: inout ArgumentQueue, _ verb: DefaultsVerb) throws(DefaultsFailure) -> String {
    try queue.take(orSay: "\(verb.rawValue): a key is missing")
  }

  private static func domain(_ queue: inout ArgumentQueue, _ verb: DefaultsVerb) throws(DefaultsFailure) -> Domain {
    let name = try queue.take(orSay: "\(verb.rawValue): a domain is missing")
    switch name {
    case "-g", "-globalDomain", "NSGlobalDomain", "Apple Global Domain": return .global
    case "-app": return .application(try queue.take(orSay: "-app: the name of an application is missing"))
    case _ where name.utf8.first == UInt8(ascii: "-"): throw .usage("\(verb.rawValue): \(name) is not a domain")
    default: return name.utf8.first == UInt8(ascii: "/") ? .path(name) : .named(name)
    }
  }

  /// For `diff`: what has a slash or ends in `.plist` is a file, relative to the working directory unless it starts with a slash.
  private static func fileOrDomain(_ queue: inout ArgumentQueue) throws(DefaultsFailure) -> Domain {
    if let path = queue.next, path.utf8.contains(UInt8(ascii: "/")) || path.hasSuffix(".plist") {
      _ = queue.take()
      return .path(path)
    }
    return try domain(&queue, .diff)
  }

  private static func write(_ queue: inout ArgumentQueue) throws(DefaultsFailure) -> Request {
    let domain = try domain(&queue, .write)
    let key = try key(&queue, .write)
    guard !queue.isEmpty else {
      guard case .dictionary(let values) = try ValueParser.propertyList(key) else {
        throw .said("Rep argument is not a dictionary\nDefaults have not been changed.")
      }
      return .replace(domain, values)
    }
    let edit = try ValueParser.edit(&queue)
    if let next = queue.next { throw .said("Unexpected argument \(next); leaving defaults unchanged.") }
    return .write(domain, key: key, edit)
  }

  /// `write DOMAIN KEY [-TYPE] --stdin`
  private static func writeInput(_ queue: inout ArgumentQueue) throws(DefaultsFailure) -> Request {
    let domain = try domain(&queue, .write)
    let key = try key(&queue, .write)
    let type = queue.take()
    if let word = queue.next ?? type, !queue.isEmpty || !ValueParser.isType(word) {
      throw .usage("write: --stdin: unexpected argument \(word)", hint: "a type may stand before it, and no value")
    }
    return .write(domain, key: key, .setInput(type: type))
  }
}

private struct Options {
  private(set) var isJSON = false
  private(set) var isNoSecret = false
  private(set) var isInput = false

  init(_ queue: inout ArgumentQueue, _ verb: DefaultsVerb) throws(DefaultsFailure) {
    while let argument = queue.next, take(argument, verb) { _ = queue.take() }
    guard !queue.take("--") else { return }
    while let argument = queue.last, take(argument, verb) { queue.takeLast() }
    if let argument = queue.next, argument.hasPrefix("--") { throw .usage("\(verb.rawValue): unknown option \(argument)") }
  }

  private mutating func take(_ argument: String, _ verb: DefaultsVerb) -> Bool {
    switch argument {
    case "--json" where verb.takesJSON: isJSON = true
    case "--not-a-secret" where verb.takesNotASecret: isNoSecret = true
    case "--stdin" where verb == .write: isInput = true
    default: return false
    }
    return true
  }
}
