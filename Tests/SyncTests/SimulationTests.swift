import Foundation
import Testing

/// Devices and an engine that lies, by schedules that the seed decides. `COFFER_TRUST=1` runs a million schedules, which takes hours;
/// `COFFER_SCHEDULES` is another number.
@Suite struct SimulationTests {
  private static let variables = ProcessInfo.processInfo.environment
  private static let count: Int = {
    if let count = variables["COFFER_SCHEDULES"].flatMap({ Int($0) }) { return count }
    if variables["COFFER_TRUST"] != nil { return 1_000_000 }
    // Tests without optimisation are for one who works on the library.
    #if DEBUG
    return 200
    #else
    return 1_000
    #endif
  }()

  /// The faults of schedules, by seed, on all processors.
  private static func faults(_ count: Int) async -> (coverage: Simulation.Coverage, faults: [String]) {
    let workers = max(1, ProcessInfo.processInfo.activeProcessorCount)
    return await withTaskGroup(of: (Simulation.Coverage, [String]).self) { group in
      for worker in 0..<workers {
        group.addTask {
          var coverage = Simulation.Coverage()
          var faults: [String] = []
          for seed in stride(from: worker, to: count, by: workers) {
            do { coverage += try Simulation.run(seed: UInt64(seed)) } catch { faults.append("seed \(seed): \(error)") }
          }
          return (coverage, faults)
        }
      }
      return await group.reduce(into: (Simulation.Coverage(), [])) { all, part in
        all.0 += part.0
        all.1 += part.1
      }
    }
  }

  @Test func devicesConvergeLoseNothingAndAcceptNothingAfterRemoval() async {
    let (coverage, faults) = await Self.faults(Self.count)
    #expect(faults.isEmpty, "\(faults.prefix(5))")
    print("simulation: \(Self.count) schedules, \(coverage)")
    #expect(coverage.isComplete, "a situation was not met: \(coverage)")
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
