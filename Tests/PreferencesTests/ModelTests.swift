import CofferPreferences
import CofferPropertyLists
import CofferTesting
import Foundation
import Testing

/// Random operations by several processes with different options, compared to a dictionary.
@Suite struct ModelTests {
  @Test(arguments: 0..<6) func allProcessesAgreeWithTheModel(seed: Int) throws {
    let fixture = try Fixture()
    var random = SeededGenerator(seed: UInt64(seed))
    func open(_ kind: Int) throws -> FileDomain {
      try fixture.domain {
        $0.isUnmapped = kind == 1
        $0.isSparing = kind == 2
      }
    }
    var domains = try (0..<3).map { try open($0) }
    var model: [String: PropertyListValue] = [:]
    // Enough values for an index from the start.
    let start = (0..<400).map { ("start\($0)", PropertyListValue.string(String(repeating: "x", count: 60))) }
    try domains[0].apply(start)
    for (key, value) in start { model[key] = value }
    try domains[0].compact()
    for step in 0..<1500 {
      let index = Int.random(in: 0..<3, using: &random)
      let key =
        Bool.random(using: &random)
        ? "start\(Int.random(in: 0..<400, using: &random))" : "k\(Int.random(in: 0..<20, using: &random))"
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<50:
        let value = Self.value(&random)
        try domains[index].set(value, forKey: key)
        model[key] = value
      case 50..<60:
        try domains[index].set(nil, forKey: key)
        model[key] = nil
      case 60..<64:
        try domains[index].update(key) {
          $0 == nil ? .integer(1) : .array([$0!].filter { if case .array = $0 { false } else { true } })
        }
        let old = model[key]
        model[key] = old == nil ? .integer(1) : .array([old!].filter { if case .array = $0 { false } else { true } })
      case 64..<67:
        let edits = (0..<5).map { ("k\($0)", Bool.random(using: &random) ? Self.value(&random) : nil) }
        try domains[index].apply(edits)
        for (key, value) in edits { model[key] = value }
      case 67..<69: try domains[index].checkpoint()
      case 69: try domains[index].compact()
      case 70..<76: domains[index] = try open(index)
      case 76..<78:
        // An edit of the property list: its values are in force, except for those that were not exported yet.
        try domains[index].checkpoint()
        var list = PlistFileDomain(path: fixture.file("com.example.app.plist").path).values()
        list[key] = .string("edited\(step)")
        if key != "k1" { list["k1"] = nil }
        // By a new file, so that its identity differs independently of the clock.
        try Data(PropertyList.writeExactly(.dictionary(list))).write(to: fixture.file("com.example.app.plist"), options: .atomic)
        model[key] = .string("edited\(step)")
        if key != "k1" { model["k1"] = nil }
        domains[index] = try open(index)
      case 78: try domains[index].synchronize()
      default:
        #expect(domains[index].value(forKey: key) == model[key], "step \(step), \(index): \(key)")
      }
      if step % 100 == 0 {
        for (index, domain) in domains.enumerated() {
          #expect(domain.problem == nil)
          try expect(domain.values(), model, "step \(step), \(index)")
        }
      }
    }
    try expect(open(0).values(), model, "at the end")
    try domains[0].checkpoint()
    try expect(PlistFileDomain(path: fixture.file("com.example.app.plist").path).values(), model, "the property list")
  }

  private func expect(_ values: PropertyListDictionary, _ model: [String: PropertyListValue], _ place: String) throws {
    #expect(values.count == model.count, "\(place)")
    for (key, value) in model { #expect(values[key] == value, "\(place): \(key)") }
  }

  static func value(_ random: inout SeededGenerator) -> PropertyListValue {
    switch Int.random(in: 0..<9, using: &random) {
    case 0: .boolean(.random(using: &random))
    case 1: .integer(.random(in: .min ... .max, using: &random))
    case 2: .unsigned(.max)
    case 3: .real(.random(in: -1e9...1e9, using: &random))
    case 4: .date(.random(in: -1e9...1e9, using: &random))
    case 5: .data((0..<Int.random(in: 0..<50, using: &random)).map { UInt8(truncatingIfNeeded: $0) })
    case 6: .array([.boolean(true), .string("a"), .dictionary(PropertyListDictionary())])
    case 7: .string(String(repeating: "ä", count: Int.random(in: 0..<200, using: &random)))
    default: .string("x\u{0}y\u{301}")
    }
  }
}
