import Glibc

/// `--name value` pairs and nothing else.
public struct Arguments {
  private var values: [String: String] = [:]

  public init(known: Set<String>) throws {
    var rest = CommandLine.arguments.dropFirst()
    while let name = rest.popFirst() {
      guard known.contains(name), let value = rest.popFirst() else {
        throw BenchmarkError("usage: \(known.sorted().map { "[\($0) VALUE]" }.joined(separator: " "))")
      }
      values[name] = value
    }
  }

  public subscript(name: String) -> String? { values[name] }

  public func sizes(default standard: [Int]) -> [Int] {
    values["--sizes"].map { $0.split(separator: ",").compactMap { Int($0) } } ?? standard
  }

  public func integer(_ name: String, default standard: Int) -> Int { values[name].flatMap { Int($0) } ?? standard }

  /// The directory of `--directory`, created if it does not exist.
  public func directory() throws -> String {
    let path = values["--directory"] ?? "/tmp/coffer-benchmarks"
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw BenchmarkError("\(path): cannot be made") }
    return path
  }
}
