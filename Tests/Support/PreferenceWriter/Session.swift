import CofferPreferences
import CofferPropertyLists
import Glibc

/// At once and in one piece: what was printed is acknowledged, whatever happens to this process afterwards.
func say(_ text: String) {
  let line = Array("\(text)\n".utf8)
  _ = unsafe line.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
}

/// The commands of one process.
final class Session {
  private let domain: FileDomain
  private let path: String
  private let options: FileDomain.Options
  private var observation: PreferenceObservation?

  init(_ domain: FileDomain, _ path: String, _ options: FileDomain.Options) {
    self.domain = domain
    self.path = path
    self.options = options
  }

  func run(_ line: String) {
    let words = line.split(separator: " ", maxSplits: 2).map(String.init)
    let first = words.count > 1 ? words[1] : ""
    let second = words.count > 2 ? words[2] : ""
    do throws(PreferenceError) {
      say(try run(words.first ?? "", first, second))
    } catch {
      say(error.code.name)
    }
  }

  private func run(_ command: String, _ first: String, _ second: String) throws(PreferenceError) -> String {
    switch command {
    case "set": try domain.set(.string(second), forKey: first)
    case "remove": try domain.set(nil, forKey: first)
    case "big": try domain.set(.string(String(repeating: "x", count: Int(second) ?? 0)), forKey: first)
    case "keep": return domain.keep(second.isEmpty ? nil : .string(second), forKey: first)?.code.name ?? "ok"
    case "get": return text(domain.value(forKey: first))
    case "pair": try domain.apply([("a", .string(first)), ("b", .string(first))])
    case "sync": try domain.synchronize()
    case "checkpoint": try domain.checkpoint()
    case "compact": try domain.compact()
    case "watch": ChangeWatch.start()
    case "observe":
      observation = domain.observe { change in
        guard change.origin == .otherProcess else { return }
        for key in change.keys { say("changed \(key.name)") }
      }
    case "other":
      // Sets through an object that is released at once.
      guard let name = try? DomainName(first) else { return "unsafeName" }
      try FileDomain(name, in: PreferenceDirectory(path), options).set(.string(second), forKey: "key")
    case "problem": return domain.problem?.code.name ?? "ok"
    case "sleep": usleep(UInt32(first).map { $0 * 1000 } ?? 0)
    case "descriptors": exhaustDescriptors()
    case "descriptors-back": for number in taken { close(number) }
    case "stream": try stream(first)
    case "fill": for number in 0..<(Int(second) ?? 0) { try domain.set(.integer(Int64(number)), forKey: "\(first)-\(number)") }
    case "count": for _ in 0..<(Int(first) ?? 0) { try domain.update("counter") { .integer(($0?.integer ?? 0) + 1) } }
    case "torn": return "\(tornReads(Int(first) ?? 0))"
    case "first-reads": return "\(wrongFirstReads(rounds: Int(first) ?? 0, of: second))"
    default: return "what?"
    }
    return "ok"
  }

  private func text(_ value: PropertyListValue?) -> String {
    switch value {
    case nil: "nil"
    case .string(let text)?: text
    case .integer(let number)?: "\(number)"
    case let other?: "\(other)"
    }
  }

  /// Writes for ever and says so: keys of its own, small and large values, and often what makes new files.
  private func stream(_ writer: String) throws(PreferenceError) {
    var number = 0
    while true {
      number += 1
      let key = "\(writer)-\(number % 23)"
      let filler = String(repeating: "x", count: number % 5 == 0 ? 3000 : number % 40)
      try domain.set(.array([.integer(Int64(number)), .string(filler)]), forKey: key)
      say("\(key) \(number)")
      if number % 11 == 0 { try domain.checkpoint() }
      if number % 37 == 0 { try domain.compact() }
      if number % 53 == 0 { try domain.synchronize() }
    }
  }

  /// Counts how often two values that are always set together differed.
  private func tornReads(_ rounds: Int) -> Int {
    (0..<rounds).count { _ in
      let values = domain.values()
      return values["a"] != values["b"]
    }
  }

  private var taken: [Int32] = []

  private func exhaustDescriptors() {
    var limit = rlimit(rlim_cur: 64, rlim_max: 64)
    unsafe setrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit)
    while true {
      let number = unsafe open("/dev/null", O_RDONLY)
      guard number >= 0 else { return }
      taken.append(number)
    }
  }

  /// Sixteen threads read a domain that nobody in this process has read before.
  private func wrongFirstReads(rounds: Int, of key: String) -> Int {
    var wrong = 0
    for _ in 0..<rounds {
      let domain = FileDomain(self.domain.name, in: PreferenceDirectory(path), options)
      wrong += nilsOfThreads { domain.value(forKey: key) == nil }
    }
    return wrong
  }
}

extension PropertyListValue {
  var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
}
