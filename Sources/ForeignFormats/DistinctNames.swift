/// Names that stand once: the second `pin` is `pin-2`, or the next number that no other name has.
struct DistinctNames: Sendable {
  /// Each name, with the last number that was tried behind it.
  private var numbers: [String: Int] = [:]

  /// Takes a name.
  /// - Returns: the name, or the same with a number.
  mutating func next(_ name: String) -> String {
    guard var number = numbers[name] else {
      numbers[name] = 1
      return name
    }
    var numbered = name
    while numbers[numbered] != nil {
      number += 1
      numbered = "\(name)-\(number)"
    }
    numbers[name] = number
    numbers[numbered] = 1
    return numbered
  }
}
