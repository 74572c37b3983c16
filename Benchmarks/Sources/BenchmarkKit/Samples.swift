/// The durations of one repeated operation, in nanoseconds.
public struct Samples {
  public private(set) var values: [Double] = []

  public init() {}

  public mutating func append(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    values.append(Double(seconds) * 1e9 + Double(attoseconds) / 1e9)
  }

  public mutating func measure<Result: ~Copyable>(_ body: () throws -> Result) rethrows -> Result {
    let start = ContinuousClock.now
    let result = try body()
    append(ContinuousClock.now - start)
    return result
  }

  /// The value below which this share of the samples is.
  public func percentile(_ share: Double) -> Double {
    let sorted = values.sorted()
    guard let last = sorted.indices.last else { return .nan }
    return sorted[Int((share * Double(last)).rounded())]
  }

  public var median: Double { percentile(0.5) }
}

/// Three digits and a suitable unit.
public func format(nanoseconds: Double) -> String {
  guard nanoseconds.isFinite else { return "–" }
  return switch nanoseconds {
  case ..<1e3: "\(threeDigits(nanoseconds)) ns"
  case ..<1e6: "\(threeDigits(nanoseconds / 1e3)) us"
  case ..<1e9: "\(threeDigits(nanoseconds / 1e6)) ms"
  default: "\(threeDigits(nanoseconds / 1e9)) s"
  }
}

public func threeDigits(_ value: Double) -> String {
  let decimals = value < 10 ? 2 : value < 100 ? 1 : 0
  let scale = decimals == 2 ? 100.0 : decimals == 1 ? 10.0 : 1.0
  let scaled = Int((value * scale).rounded())
  guard decimals > 0 else { return "\(scaled)" }
  let fraction = String(scaled % Int(scale))
  return "\(scaled / Int(scale)).\(String(repeating: "0", count: decimals - fraction.utf8.count))\(fraction)"
}
