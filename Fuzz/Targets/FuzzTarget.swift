/// A function that takes bytes of an attacker. It may refuse them; it must not trap, and its promises must hold for bytes that it
/// accepts.
struct FuzzTarget: Sendable {
  /// A promise did not hold.
  struct Broken: Error {
    let promise: String
  }

  let name: String
  private let body: @Sendable ([UInt8]) throws -> Void

  init(_ name: String, _ body: @escaping @Sendable ([UInt8]) throws -> Void) {
    self.name = name
    self.body = body
  }

  /// - Throws: `Broken`. A refusal is not an error.
  func run(_ bytes: [UInt8]) throws(Broken) {
    do {
      try body(bytes)
    } catch let broken as Broken {
      throw broken
    } catch {}
  }

  static let all = parsers + contents + texts + stores + preferences + frames + foreign + sync + ssh
}

func promise(_ holds: Bool, _ promise: @autoclosure () -> String) throws(FuzzTarget.Broken) {
  if !holds { throw FuzzTarget.Broken(promise: promise()) }
}

/// Takes bytes one after another; zeros follow the last one.
struct Choices {
  private var bytes: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

  var isEmpty: Bool { bytes.isEmpty }

  mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }
  mutating func number() -> Int { Int(byte()) | Int(byte()) << 8 }

  /// Returns nil if `count` is 0.
  mutating func index(below count: Int) -> Int? { count > 0 ? number() % count : nil }

  mutating func bytes(_ count: Int) -> [UInt8] {
    let taken = Array(bytes.prefix(count))
    bytes = bytes.dropFirst(count)
    return taken
  }

  mutating func rest() -> [UInt8] { bytes(bytes.count) }
}
