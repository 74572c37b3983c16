import SyncSimulation

// Runs schedules of the simulation:
//
//     SyncSchedules FIRST END STRIDE
//
// of the seeds FIRST, FIRST + STRIDE, … below END. Prints a line for each fault, `fault SEED ERROR`, then one for each situation, with how
// often it was met, `met SITUATION COUNT`, and in the end the number of schedules, `ran COUNT`.

let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
guard numbers.count == 3, numbers[2] > 0 else { fatalError("usage: SyncSchedules FIRST END STRIDE") }

var coverage = Coverage()
var count = 0
for seed in stride(from: numbers[0], to: numbers[1], by: numbers[2]) {
  do { coverage += try Simulation.run(seed: UInt64(seed)) } catch { print("fault \(seed) \(error)") }
  count += 1
}
for situation in Situation.allCases { print("met \(situation) \(coverage[situation])") }
print("ran \(count)")
