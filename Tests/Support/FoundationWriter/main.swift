// The negative control: the same commands on the preferences of swift-corelibs-foundation. A harness that finds nothing wrong here
// would find nothing wrong anywhere.
//
//   FoundationWriter COMMAND…    with HOME and XDG_CONFIG_HOME for its files
import Foundation

func say(_ text: String) {
  let line = Array("\(text)\n".utf8)
  _ = unsafe line.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
}

let name = "com.example.app"
guard let domain = UserDefaults(suiteName: name) else { exit(1) }

/// Sixteen threads read a suite that nobody in this process has read before.
func wrongFirstReads(rounds: Int, of key: String) -> Int {
  final class Race: @unchecked Sendable {
    let lock = NSLock()
    var waiting = 0
    var wrong = 0
    let domain: UserDefaults
    init(_ domain: UserDefaults) { self.domain = domain }
  }
  var wrong = 0
  for round in 0..<rounds {
    guard let domain = UserDefaults(suiteName: "\(name).\(round)") else { continue }
    let race = Race(domain)
    let threads = (0..<16).map { _ in
      Thread {
        race.lock.withLock { race.waiting += 1 }
        while race.lock.withLock({ race.waiting }) < 16 { sched_yield() }
        let isWrong = race.domain.object(forKey: key) == nil
        race.lock.withLock {
          if isWrong { race.wrong += 1 }
          race.waiting += 100
        }
      }
    }
    for thread in threads { thread.start() }
    while race.lock.withLock({ race.waiting }) < 1616 { usleep(200) }
    wrong += race.lock.withLock { race.wrong }
  }
  return wrong
}

for command in CommandLine.arguments.dropFirst() {
  let words = command.split(separator: " ").map(String.init)
  switch words.first {
  case "stream":
    var number = 0
    while true {
      number += 1
      let key = "\(words[1])-\(number % 23)"
      domain.set([number, String(repeating: "x", count: number % 5 == 0 ? 3000 : number % 40)], forKey: key)
      if domain.synchronize() { say("\(key) \(number)") }
    }
  case "fill":
    for number in 0..<(Int(words[2]) ?? 0) {
      domain.set(number, forKey: "\(words[1])-\(number)")
      _ = domain.synchronize()
    }
  case "count":
    for _ in 0..<(Int(words[1]) ?? 0) {
      _ = domain.synchronize()
      domain.set(domain.integer(forKey: "counter") + 1, forKey: "counter")
      _ = domain.synchronize()
    }
  case "set":
    domain.set(words[2], forKey: words[1])
    _ = domain.synchronize()
  case "big":
    domain.set(String(repeating: "x", count: Int(words[2]) ?? 0), forKey: words[1])
    _ = domain.synchronize()
  case "first-reads":
    say("\(wrongFirstReads(rounds: Int(words[1]) ?? 0, of: words[2]))")
    continue
  default: say("what?")
  }
  say("ok")
}
