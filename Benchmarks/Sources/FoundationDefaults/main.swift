// A small program that uses Foundation's UserDefaults: SUITE KEY reads, SUITE KEY NUMBER writes.
import Foundation

let arguments = CommandLine.arguments
guard arguments.count >= 3, let defaults = UserDefaults(suiteName: arguments[1]) else { exit(2) }
if arguments.count == 3 {
  guard let value = defaults.object(forKey: arguments[2]) else { exit(1) }
  print(value)
} else {
  defaults.set(Int(arguments[3]) ?? 0, forKey: arguments[2])
  guard defaults.synchronize() else { exit(1) }
}
