// A program with settings, for tests that need another process. Its first argument is what to do.
import Foundation
import PreferenceStore

import class PreferenceStore.UserDefaults

func store(_ name: String) -> UserDefaults? { name == "standard" ? .standard : UserDefaults(suiteName: name) }

func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

var words = CommandLine.arguments.dropFirst()[...]
@MainActor func next() -> String { words.popFirst() ?? "" }

// A test that is ended from outside leaves nobody who would end this program.
alarm(600)

let command = next()
guard let store = store(next()) else {
  say("no such store")
  exit(2)
}
switch command {
case "container":
  say(FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: next())?.path ?? "nil")
case "write-file":
  let (group, name, text, atomically) = (next(), next(), next(), next())
  guard let container = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) else { exit(1) }
  let url = container.appendingPathComponent(name)
  try text.write(to: url, atomically: atomically == "true", encoding: .utf8)
  say(url.path)
case "read-file":
  let (group, name) = (next(), next())
  guard let container = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) else { exit(1) }
  let text = try? String(contentsOf: container.appendingPathComponent(name), encoding: .utf8)
  say("\(text.map { Int($0) ?? 0 } ?? 0)")
case "launch":
  if let text = store.string(forKey: "text") { say("\(text) \(store.double(forKey: "number"))") }
  store.set("hoge", forKey: "text")
  store.set(1.0, forKey: "number")
case "fill":
  for key in ["a", "b"] { store.set(Data(count: 300_000), forKey: key) }
case "directories":
  let urls: [URL] = [
    URL.homeDirectory, URL.documentsDirectory, URL.libraryDirectory, URL.cachesDirectory, URL.applicationSupportDirectory,
    URL.temporaryDirectory,
  ]
  for url in urls { say(url.path) }
  let kinds: [FileManager.SearchPathDirectory] = [.documentDirectory, .cachesDirectory, .applicationSupportDirectory]
  for kind in kinds { say(FileManager.default.urls(for: kind, in: .userDomainMask).first?.path ?? "nil") }
  say(NSHomeDirectory())
case "exclude":
  do {
    let url = URL(filePath: next())
    let before = try url.isExcludedFromBackup()
    try url.setExcludedFromBackup(true)
    say("\(before) \(try url.isExcludedFromBackup())")
  } catch {
    say("\((error as? CocoaError)?.code.rawValue ?? 0)")
  }
case "include":
  try URL(filePath: next()).setExcludedFromBackup(false)
case "remove-delivered":
  do {
    try FileManager.default.removeDeliveredItem(at: URL(filePath: next()))
    say("removed")
  } catch {
    say("\((error as? CocoaError)?.code.rawValue ?? 0)")
  }
case "set":
  store.set(next(), forKey: next())
case "get":
  say(store.object(forKey: next()).map { "\(type(of: $0)) \($0)" } ?? "nil")
case "register":
  let (key, value) = (next(), next())
  let flags = ["true": true, "false": false]
  store.register(defaults: [key: flags[value] ?? value as Any])
  say(store.string(forKey: key) ?? "nil")
case "seed":
  let (key, value) = (next(), next())
  if store.object(forKey: key) == nil { store.set(value, forKey: key) }
  store.register(defaults: [key: next()])
  say(store.string(forKey: key) ?? "nil")
case "kill":
  store.set(next(), forKey: next())
  raise(SIGKILL)
case "read":
  // Many reads of one setting, between two system calls that a trace shows.
  let key = next()
  _ = store.integer(forKey: key)
  say("begin")
  var sum = 0
  for _ in 0..<10_000 { sum += store.integer(forKey: key) }
  say("end \(sum)")
case "follow":
  // The value is the time at which it was set. Says how many nanoseconds later it was read: the 10th, 50th
  // and 99th percentile.
  let (key, rounds) = (next(), 500)
  var (last, delays) = (store.integer(forKey: key), [Int]())
  say("ready")
  while delays.count < rounds {
    let value = store.integer(forKey: key)
    guard value != last else { continue }
    delays.append(Int(DispatchTime.now().uptimeNanoseconds) - value)
    last = value
  }
  delays.sort()
  say([10, 50, 99].map { "\(delays[rounds * $0 / 100])" }.joined(separator: " "))
case "watch":
  let key = next()
  let observation = store.observe(key) { say("\($0.origin) \($0.new.map { "\($0)" } ?? "nil")") }
  let token = NotificationCenter.default.addObserver(forName: UserDefaults.didChangeNotification, object: store, queue: nil) {
    say("notified \($0.userInfo?[UserDefaults.isExternalKey] ?? "")")
  }
  say("ready")
  _ = readLine()
  observation.cancel()
  NotificationCenter.default.removeObserver(token)
case "fork":
  // This process and one that it forks off set different keys at the same time. Swift hides the call.
  store.set(0, forKey: "before")
  typealias Fork = @convention(c) () -> pid_t
  let fork = unsafe unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)
  let count = 2000
  let child = fork()
  for number in 0..<count { store.set(number, forKey: "\(child == 0) \(number)") }
  if child == 0 { exit(0) }
  var status: Int32 = 0
  unsafe waitpid(child, &status, 0)
  let kept = [false, true].flatMap { side in (0..<count).filter { store.object(forKey: "\(side) \($0)") as? Int == $0 } }
  say("\(status) \(kept.count)")
case "write":
  // Messages for people go to another stream than the output for programs.
  store.set(Data(count: 2 << 20), forKey: "large")
  say("done")
case "synced-set":
  NSUbiquitousKeyValueStore.default.set(next() as String?, forKey: next())
case "synced-get":
  say(NSUbiquitousKeyValueStore.default.string(forKey: next()) ?? "nil")
case "synced-kill":
  NSUbiquitousKeyValueStore.default.set(next() as String?, forKey: next())
  raise(SIGKILL)
case "synced-synchronize":
  say("\(NSUbiquitousKeyValueStore.default.synchronize())")
case "synced-watch":
  // Says each notification, and the present value of its first key. Each line of the input is a call of `synchronize`.
  let synced = NSUbiquitousKeyValueStore.default
  let token = NotificationCenter.default.addObserver(
    forName: NSUbiquitousKeyValueStore.didChangeExternallyNotification, object: synced, queue: nil
  ) { notification in
    let keys = notification.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String] ?? []
    let reason = notification.userInfo?[NSUbiquitousKeyValueStoreChangeReasonKey] as? Int ?? -1
    say("\(reason) \(keys.joined(separator: ",")) \(keys.first.flatMap { synced.string(forKey: $0) } ?? "nil")")
  }
  say("ready")
  while readLine() != nil { say("synchronize \(synced.synchronize())") }
  NotificationCenter.default.removeObserver(token)
case "wrap":
  // The value that a wrapper of this program reads, several times.
  let key = Key(next(), default: 7)
  let storage = AppStorage(key, store: store)
  say((0..<3).map { _ in "\(storage.wrappedValue) \(store.value(of: key))" }.joined(separator: " "))
default:
  exit(2)
}
