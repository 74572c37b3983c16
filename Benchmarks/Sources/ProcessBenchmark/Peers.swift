import BenchmarkKit
import Glibc

/// Commonly used tools, if they are installed. They use none of the user's files: all files are in the benchmark's directory.
struct Peers {
  let directory: String
  private(set) var missing: [String] = []

  init(in directory: String) { self.directory = directory }

  mutating func contenders(itemCount: Int) throws -> [Contender] {
    var found: [Contender] = []
    for (name, programs, make) in [
      ("sqlite3", ["sqlite3"], sqlite), ("age and grep", ["age", "age-keygen"], age), ("pass", ["pass", "gpg"], pass),
      ("secret-tool", ["secret-tool", "gnome-keyring-daemon"], secretTool),
    ] as [(String, [String], (Int) throws -> Contender)] {
      if let absent = programs.first(where: { Command.find($0) == nil }) {
        note("\(name): not measured, \(absent) is not installed")
      } else {
        do { found.append(try make(itemCount)) } catch { note("\(name): not measured, \(error)") }
      }
    }
    return found
  }

  private mutating func note(_ line: String) {
    if !missing.contains(line) { missing.append(line) }
  }

  private func shell(_ script: String, _ input: String? = nil, _ environment: [String] = Command.inherited) throws {
    try Command(["/bin/sh", "-c", script], input: input, environment: environment).run()
  }

  /// Without any protection: an upper bound for a design on SQLite.
  private func sqlite(_ itemCount: Int) throws -> Contender {
    let path = "\(directory)/\(itemCount).sqlite"
    try shell(
      """
      rm -f \(path) \(path)-wal \(path)-shm; sqlite3 \(path) "PRAGMA journal_mode=WAL; CREATE TABLE t(k TEXT PRIMARY KEY, v BLOB)
        WITHOUT ROWID; WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i+1 FROM n WHERE i+1<\(itemCount))
        INSERT INTO t SELECT 'user-'||i, randomblob(336) FROM n;"
      """)
    return Contender(
      name: "sqlite3 shell, not encrypted",
      get: { Command(["sqlite3", path, "SELECT hex(v) FROM t WHERE k='user-\($0 % itemCount)'"]) },
      put: { Command(["sqlite3", path, "PRAGMA synchronous=FULL; INSERT INTO t VALUES('new-\($0)', randomblob(336))"]) })
  }

  /// One encrypted file of lines, rewritten for each change.
  private func age(_ itemCount: Int) throws -> Contender {
    let (key, file) = ("\(directory)/age.key", "\(directory)/\(itemCount).age")
    try shell(
      """
      [ -f \(key) ] || age-keygen -o \(key) 2>/dev/null; age-keygen -y \(key) > \(key).pub
      seq 0 \(itemCount - 1) | sed 's/.*/user-& a-secret-of-24-bytes-xxx/' | age -R \(key).pub > \(file)
      """)
    return Contender(
      name: "age and grep (put: no fsync)",
      get: { Command(["/bin/sh", "-c", "age -d -i \(key) \(file) | grep -F -m1 'user-\($0 % itemCount) '"]) },
      put: {
        Command([
          "/bin/sh", "-c",
          "{ age -d -i \(key) \(file); echo 'new-\($0) a-secret'; } | age -R \(key).pub > \(file).new && mv \(file).new \(file)",
        ])
      })
  }

  /// A gpg key without a passphrase, so that gpg does not ask for one.
  private func pass(_ itemCount: Int) throws -> Contender {
    let (home, store) = ("\(directory)/gnupg", "\(directory)/pass-\(itemCount)")
    let environment = Command.inherited + ["GNUPGHOME=\(home)", "PASSWORD_STORE_DIR=\(store)"]
    // One file is encrypted and copied under the other names: encrypting thousands would not change the result.
    try shell(
      """
      [ -d \(home) ] || { mkdir -m 700 \(home); gpg --batch --quiet --passphrase '' --quick-gen-key bench@example.org default default never; }
      rm -rf \(store); pass init bench@example.org; echo a-secret-of-24-bytes-xxx | pass insert -e user-0
      i=1; while [ $i -lt \(itemCount) ]; do cp \(store)/user-0.gpg \(store)/user-$i.gpg; i=$((i+1)); done
      """, nil, environment)
    return Contender(
      name: "pass (put: no fsync)",
      get: { Command(["pass", "show", "user-\($0 % itemCount)"], environment: environment) },
      put: { Command(["pass", "insert", "-e", "new-\($0)"], input: "a-secret\n", environment: environment) })
  }

  /// Needs a session bus with an unlocked keyring: `run` starts this program with one.
  private func secretTool(_ itemCount: Int) throws -> Contender {
    guard getenv("COFFER_BENCHMARK_KEYRING") != nil else { throw BenchmarkError("there is no throw-away keyring") }
    // It rewrites its whole file for each item: 10,000 would take an hour.
    guard itemCount <= 1000 else { throw BenchmarkError("\(itemCount) items would take too long to store") }
    let set = "set-\(itemCount)"
    for index in 0..<itemCount {
      try Command(["secret-tool", "store", "--label=x", "set", set, "user", "\(index)"], input: "a-secret").run()
    }
    return Contender(
      name: "secret-tool and gnome-keyring",
      get: { Command(["secret-tool", "lookup", "set", set, "user", "\($0 % itemCount)"]) },
      put: { Command(["secret-tool", "store", "--label=x", "set", set, "user", "new-\($0)"], input: "a-secret") })
  }
}
