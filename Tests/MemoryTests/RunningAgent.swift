import Foundation
import Testing

/// The agent of a place, as `coffer vault unlock` has started it: in a session of its own, and nobody's child.
final class RunningAgent {
  let process: Int32
  private let place: Place

  /// - Throws: if none runs, or several do.
  init(of place: Place) throws {
    let all = Self.agents(of: place)
    process = try #require(all.first, "no agent runs in \(place.path)")
    self.place = place
    #expect(all.count == 1)
  }

  deinit { kill(process, SIGKILL) }

  private static func agents(of place: Place) -> [Int32] {
    let mark = Data("COFFER_HOME=\(place.file("coffer"))\0".utf8)
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int32($0) } ?? []
    return numbers.filter { number in
      (try? String(contentsOfFile: "/proc/\(number)/comm", encoding: .utf8)) == "cofferd\n"
        && (try? Data(contentsOf: URL(filePath: "/proc/\(number)/environ")))?.range(of: mark) != nil
    }
  }

  var isRunning: Bool { FileManager.default.fileExists(atPath: "/proc/\(process)/exe") }

  /// The content of its memory after the last client was served and its thread has ended.
  func scan() throws -> Scan {
    for _ in 0..<10_000 where isServing { usleep(1000) }
    #expect(!isServing)
    return try place.scan(process: process)
  }

  private var isServing: Bool {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
    return tasks.contains {
      (try? String(contentsOfFile: "/proc/\(process)/task/\($0)/comm", encoding: .utf8)) == "coffer-client\n"
    }
  }
}
