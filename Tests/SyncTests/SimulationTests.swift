import Children
import Foundation
import Testing

@testable import SyncSimulation

/// Devices and an engine that lies, by schedules that the seed decides. `COFFER_TRUST=1` runs a million schedules, which takes an
/// hour or more. `COFFER_SCHEDULES` is another number.
@Suite struct SimulationTests {
  private static let variables = ProcessInfo.processInfo.environment
  private static let count: Int = {
    if let count = variables["COFFER_SCHEDULES"].flatMap({ Int($0) }) { return count }
    if variables["COFFER_TRUST"] != nil { return 1_000_000 }
    // Tests without optimisation are for one who works on the library.
    #if DEBUG
    return 200
    #else
    return 100_000
    #endif
  }()

  /// In one program for each processor.
  @Test func devicesConvergeLoseNothingAndAcceptNothingAfterRemoval() {
    let programs = max(1, ProcessInfo.processInfo.activeProcessorCount)
    let children = (0..<programs).map { Child([program("SyncSchedules"), "\($0)", "\(Self.count)", "\(programs)"]) }
    var (faults, count) = ([String](), 0)
    var met: [Substring: Int] = [:]
    for child in children {
      // A program prints nothing until it meets a fault, or has ended.
      while let line = child.line(within: -1) {
        let words = line.split(separator: " ")
        switch words.first {
        case "met": met[words[1], default: 0] += Int(words[2]) ?? 0
        case "ran": count += Int(words[1]) ?? 0
        default: faults.append(line)
        }
      }
      #expect(child.wait() == 0)
    }
    #expect(faults.isEmpty, "\(faults.prefix(5))")
    #expect(count == Self.count)
    print("simulation: \(count) schedules, \(met.sorted { $0.key < $1.key })")
    for situation in Situation.allCases { #expect(met["\(situation)", default: 0] > 0, "\(situation) was not met") }
  }

  /// The control: a device that is built wrong is noticed, within as many schedules.
  @Test(arguments: [
    (Flaw.lastWriterWins, [Simulation.Fault.lost, .itemLost]), (.noResending, [.lost]), (.noMarker, [.notConverged]),
    (.noMemberCheck, [.acceptedAfterRemoval]), (.noChain, [.lost, .notConverged, .stillPending]),
  ]) func aFlawIsNoticed(flaw: Flaw, expected: [Simulation.Fault]) {
    for seed in 0..<UInt64(10_000) {
      do { _ = try Simulation.run(seed: seed, flaw: flaw) } catch let fault as Simulation.Fault {
        if expected.contains(fault) { return }
      } catch {
        Issue.record("\(flaw): \(error)")
        return
      }
    }
    Issue.record("10,000 schedules pass with \(flaw)")
  }
}
