import CofferConsole
import CofferFiles

/// The helpers for credentials in git's configuration of the user. git itself reads and writes it.
struct GitConfiguration {
  private static let key = "credential.helper"

  /// The values of `credential.helper`.
  /// - Throws: not found, if there is no git; other, if it fails.
  static func helpers() throws -> [String] {
    try values(["--global", "--get-all", key])
  }

  /// The values of all helpers that git asks: for single URLs, of the system and in included files, too, also if git includes such a
  /// file in some repositories alone. Those that a repository has of itself are not among them.
  /// - Throws: as `helpers`.
  static func allHelpers() throws -> [String] {
    var helpers: [String] = []
    var scopes: [[String]] = [[]]
    var seen: Set<String> = []
    while let scope = scopes.popLast() {
      helpers += try values(scope + ["--get-regexp", #"^credential\.(.*\.)?helper$"#]).map(\.settingValue)
      // Origins and settings take turns. A relative path is one from the file that names it.
      let included = try values(scope + ["--show-origin", "--type=path", "--get-regexp", #"^includeif\..*\.path$"#])
      for (origin, setting) in zip(included, included.dropFirst()) where setting.hasPrefix("includeif.") {
        let path = setting.settingValue
        let file = path.hasPrefix("/") ? path : Path.join(Path.parent(of: String(origin.dropFirst(5))), path)
        if seen.insert(file).inserted { scopes.append(["--file", file, "--includes"]) }
      }
    }
    return helpers
  }

  private static func values(_ words: [String]) throws -> [String] {
    let outcome = try ProgramOutput.of("git", ["config", "--null"] + words)
    // 1: there is no value.
    guard outcome.status == 0 || outcome.status == 1 else { throw failure(outcome.status) }
    return outcome.output.split(separator: 0, omittingEmptySubsequences: false).dropLast().map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  static func add(_ helper: String) throws { try change(["--add", key, helper]) }

  static func remove(_ helper: String) throws {
    let pattern = helper.reduce(into: "") { $0 += ".[]{}()*+?^$|\\".contains($1) ? "\\\($1)" : String($1) }
    try change(["--unset-all", key, "^\(pattern)$"])
  }

  private static func change(_ words: [String]) throws {
    let status = try ProgramOutput.of("git", ["config", "--global"] + words).status
    guard status == 0 else { throw failure(status) }
  }

  private static func failure(_ status: Int32) -> Failure {
    Failure(.other, "git config: ended with \(status)", hint: "git config --global --list says why")
  }
}

/// git asks `coffer`, and no longer writes passwords into its own file.
enum GitHelper {
  /// The second name of this program, if git finds it; else the program.
  private static var own: String {
    CalledName.isInstalled("git-credential-coffer") ? "coffer" : "!coffer credential git"
  }

  private static func isOwn(_ helper: String) -> Bool { helper == "coffer" || helper.hasPrefix("!coffer ") }
  /// `git credential-store`, also by its path or within a command, would write the next password into the file again.
  private static func isStore(_ helper: String) -> Bool {
    // The shell takes the value.
    let words = helper.filter { !#"'"\"#.contains($0) }.split(whereSeparator: \.isWhitespace)
    return words.first == "store" || words.contains { $0.contains("credential-store") }
  }

  /// Why git would write the next password into the file again.
  static func obstacle() -> String? {
    do {
      // A sweep changes the setting for all URLs in the user's own file alone, and keeps each helper as a line.
      let own = try GitConfiguration.helpers().filter { isStore($0) && !$0.contains("\n") }
      let isSetElsewhere = try GitConfiguration.allHelpers().filter(isStore).count > own.count
      return isSetElsewhere ? "git has a helper store for single URLs, or in another file: git config --show-origin --list" : nil
    } catch {
      return "git config --list fails"
    }
  }

  /// The changes that are needed, as `ProgramSettings` keeps them. Nothing is changed yet.
  static func changes() throws -> [String] {
    let helpers = try GitConfiguration.helpers()
    return helpers.filter(isStore).map { "-\($0)" } + (helpers.contains(where: isOwn) ? [] : ["+\(own)"])
  }

  static func carryOut(_ changes: [String], isUndo: Bool = false) throws {
    guard !changes.isEmpty else { return }
    let helpers = try GitConfiguration.helpers()
    // The new helper first: git never is without one.
    for change in changes.sorted(by: { ($0.first == "+") != isUndo && ($1.first == "+") == isUndo }) {
      let helper = String(change.dropFirst())
      if (change.first == "+") != isUndo {
        if !helpers.contains(helper) { try GitConfiguration.add(helper) }
      } else if helpers.contains(helper) {
        try GitConfiguration.remove(helper)
      }
    }
  }
}

extension String {
  /// Behind the name of a setting, and a line end.
  fileprivate var settingValue: String { String(drop { $0 != "\n" }.dropFirst()) }
}
