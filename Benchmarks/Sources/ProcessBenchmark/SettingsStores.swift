import BenchmarkKit
import Glibc

/// Programs that read and write settings that are not secret, one value per process.
struct SettingsStores {
  let coffer: String
  let directory: String
  private(set) var missing: [String] = []

  init(_ coffer: String, in directory: String) throws {
    self.coffer = coffer
    self.directory = "\(directory)/settings"
    try Command(["/bin/sh", "-c", "rm -rf \(self.directory) && mkdir -p -m 700 \(self.directory)"]).run()
  }

  mutating func contenders(keyCount: Int) throws -> [Contender] {
    var found = [try defaults(keyCount)]
    if Command.find("dconf") == nil || getenv("DBUS_SESSION_BUS_ADDRESS") == nil {
      note("dconf: not measured, it or its session bus is not there")
    } else {
      // dconf's service fails with very many keys.
      do { found.append(try dconf(keyCount)) } catch { note("dconf: not measured with \(keyCount) keys, \(error)") }
    }
    found.append(try foundation(keyCount))
    if Command.find("sqlite3") == nil {
      note("sqlite3: not measured, it is not installed")
    } else {
      found.append(try sqlite(keyCount))
    }
    return found
  }

  private mutating func note(_ line: String) {
    if !missing.contains(line) { missing.append(line) }
  }

  private func environment(_ pairs: [String]) -> [String] {
    let names = pairs.map { $0.prefix { $0 != "=" } + "=" }
    return Command.inherited.filter { entry in !names.contains { entry.hasPrefix($0) } } + pairs
  }

  private func write(_ path: String, _ pieces: [String]) throws {
    guard let file = fopen(path, "w") else { throw BenchmarkError(path) }
    for piece in pieces { fputs(piece, file) }
    fclose(file)
  }

  private func plist(_ keyCount: Int, at path: String) throws {
    let pairs = (0..<keyCount).map { "<key>key-\($0)</key><integer>\($0)</integer>\n" }
    try write(path, ["<?xml version=\"1.0\" encoding=\"UTF-8\"?><plist version=\"1.0\"><dict>\n"] + pairs + ["</dict></plist>\n"])
  }

  private func defaults(_ keyCount: Int) throws -> Contender {
    let environment = environment(["COFFER_HOME=\(directory)/coffer"])
    let domain = "bench.\(keyCount)"
    try plist(keyCount, at: "\(directory)/\(keyCount).plist")
    try Command([coffer, "defaults", "import", domain, "\(directory)/\(keyCount).plist"], environment: environment).run()
    return Contender(
      name: "coffer defaults",
      get: { Command([coffer, "defaults", "read", domain, "key-\($0 * 7919 % keyCount)"], environment: environment) },
      put: {
        Command(
          [coffer, "defaults", "write", domain, "key-\($0 * 7919 % keyCount)", "-int", "\($0 + 7)"], environment: environment)
      })
  }

  private func dconf(_ keyCount: Int) throws -> Contender {
    let path = "/bench\(keyCount)"
    let lines = (0..<keyCount).map { "key-\($0)=\($0)\n" }
    try write("\(directory)/\(keyCount).dconf", ["[/]\n"] + lines)
    try Command(["/bin/sh", "-c", "dconf load \(path)/ < \(directory)/\(keyCount).dconf"]).run()
    return Contender(
      name: "dconf", get: { Command(["dconf", "read", "\(path)/key-\($0 * 7919 % keyCount)"]) },
      put: { Command(["dconf", "write", "\(path)/key-\($0 * 7919 % keyCount)", "\($0 + 7)"]) })
  }

  /// A program of a few lines that uses Foundation's UserDefaults and synchronizes after a write.
  private func foundation(_ keyCount: Int) throws -> Contender {
    let program = String(CommandLine.arguments[0].reversed().drop { $0 != "/" }.reversed()) + "foundation-defaults"
    let environment = environment(["HOME=\(directory)", "XDG_CONFIG_HOME=\(directory)/config"])
    let suite = "bench.\(keyCount)"
    // The path where Foundation looks; filling it through UserDefaults would take hours.
    try Command([
      "/bin/sh", "-c", "mkdir -p \(directory)/config && cp \(directory)/\(keyCount).plist \(directory)/config/\(suite).plist",
    ]).run()
    return Contender(
      name: "Foundation's UserDefaults",
      get: { Command([program, suite, "key-\($0 * 7919 % keyCount)"], environment: environment) },
      put: { Command([program, suite, "key-\($0 * 7919 % keyCount)", "\($0 + 7)"], environment: environment) })
  }

  private func sqlite(_ keyCount: Int) throws -> Contender {
    let path = "\(directory)/\(keyCount).sqlite"
    try Command([
      "sqlite3", path,
      """
      PRAGMA journal_mode=WAL; CREATE TABLE t(k TEXT PRIMARY KEY, v) WITHOUT ROWID;
      WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i+1 FROM n WHERE i+1<\(keyCount)) INSERT INTO t SELECT 'key-'||i, i FROM n;
      """,
    ]).run()
    return Contender(
      name: "sqlite3 shell", get: { Command(["sqlite3", path, "SELECT v FROM t WHERE k='key-\($0 * 7919 % keyCount)'"]) },
      put: {
        Command(["sqlite3", path, "PRAGMA synchronous=FULL; REPLACE INTO t VALUES('key-\($0 * 7919 % keyCount)', \($0 + 7))"])
      })
  }
}
