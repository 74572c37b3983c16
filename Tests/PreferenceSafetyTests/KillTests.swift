import Children
import CofferPreferences
import CofferPropertyLists
import Glibc
import Testing

/// Writers that are killed at any moment lose no acknowledged value.
@Suite(.serialized) struct KillTests {
  /// Starts writers and kills them, round after round.
  /// - Returns: The numbers of acknowledged writes, of lost ones, and of rounds with a file that could not be read.
  static func soak(
    rounds: Int, writers: Int, start: (Int) -> Child, stored: () -> [String: Int64]?
  ) -> (acknowledged: Int, lost: Int, unreadable: Int) {
    var result = (acknowledged: 0, lost: 0, unreadable: 0)
    // Each round writes its own keys, so that its values are not overwritten and are checked in all later rounds.
    var promises: [String: Int64] = [:]
    for round in 0..<rounds {
      let children = (0..<writers).map { start(round % 40 * 10 + $0) }
      usleep(UInt32.random(in: 10_000...80_000))
      for child in children { child.signal(SIGKILL) }
      for (writer, child) in children.enumerated() {
        // This round overwrites the values of an earlier round with the same number.
        var last: [String: Int64] = [:]
        for line in child.lines() {
          let words = line.split(separator: " ")
          guard words.count == 2, let number = Int64(words[1]) else {
            Issue.record("\(line)")
            continue
          }
          last[String(words[0])] = number
          result.acknowledged += 1
        }
        child.wait()
        let prefix = "\(round % 40 * 10 + writer)-"
        for key in promises.keys where key.hasPrefix(prefix) { promises[key] = last[key] }
        promises.merge(last) { $1 }
      }
      guard let stored = stored() else {
        result.unreadable += 1
        continue
      }
      for (key, number) in promises where (stored[key] ?? 0) < number { result.lost += 1 }
    }
    return result
  }

  /// The last numbers by key.
  static func numbers(_ values: PropertyListDictionary) -> [String: Int64] {
    Dictionary(
      uniqueKeysWithValues: values.sorted.compactMap { key, value in
        guard case .array(let parts) = value, let number = parts.first?.integer else { return nil }
        return (key, number)
      })
  }

  @Test("kill -9 right after set: the value is kept", .timeLimit(.minutes(60))) func killedWritersLoseNothing() throws {
    let place = Place()
    let result = Self.soak(rounds: isLong ? 1000 : 60, writers: 3) { writer in
      place.writer(commands: ["stream \(writer)"])
    } stored: {
      guard let domain = try? place.domain(), domain.problem == nil else { return nil }
      // The property list exists from the first checkpoint on, and is complete at every moment.
      if place.names.contains("com.example.app.plist"), place.values() == nil { return nil }
      return Self.numbers(domain.values())
    }
    #expect(result.acknowledged > 300)
    #expect(result.lost == 0)
    #expect(result.unreadable == 0)
    #expect(!place.names.contains { $0.contains(".corrupt-") }, "\(place.names)")
    print("preferences: \(result.acknowledged) acknowledged, \(result.lost) lost")
  }

  /// The control.
  @Test(.timeLimit(.minutes(60))) func foundationLosesThem() {
    let place = Place()
    var found = 0
    for _ in 0..<10 where found == 0 {
      let result = Self.soak(rounds: 20, writers: 3) { writer in
        Foundation.start(in: place, ["stream \(writer)"])
      } stored: {
        Foundation.values(in: place).map(Self.numbers)
      }
      found += result.lost + result.unreadable
    }
    #expect(found > 0)
  }
}

/// The program with Foundation's preferences.
enum Foundation {
  static func start(in place: Place, _ commands: [String]) -> Child {
    Child([program("FoundationWriter")] + commands, environment: ["HOME=\(place.root)", "XDG_CONFIG_HOME=\(place.root)/config"])
  }

  static func file(in place: Place) -> String? { run("find", place.root, "-name", "com.example.app.plist").first }

  /// nil if its file cannot be read.
  static func values(in place: Place) -> PropertyListDictionary? {
    guard let path = file(in: place), let bytes = read(path), case .dictionary(let values)? = try? PropertyList.read(bytes).value
    else { return nil }
    return values
  }
}
