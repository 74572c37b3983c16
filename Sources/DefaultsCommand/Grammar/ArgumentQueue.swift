/// The arguments that are still to be read.
struct ArgumentQueue {
  private var rest: ArraySlice<String>

  init(_ arguments: [String]) { rest = arguments[...] }

  var isEmpty: Bool { rest.isEmpty }
  var next: String? { rest.first }
  var last: String? { rest.last }

  mutating func take() -> String? { rest.popFirst() }

  mutating func take(_ argument: String) -> Bool {
    guard rest.first == argument else { return false }
    rest.removeFirst()
    return true
  }

  mutating func takeLast() { rest.removeLast() }

  /// - Throws: A usage error if there is none.
  mutating func take(orSay missing: @autoclosure () -> String) throws(DefaultsFailure) -> String {
    guard let argument = rest.popFirst() else { throw .usage(missing()) }
    return argument
  }

  /// - Throws: usage, where something is left over.
  func finish(_ verb: DefaultsVerb) throws(DefaultsFailure) {
    if let next { throw .usage("\(verb.rawValue): unexpected argument \(next)") }
  }
}
