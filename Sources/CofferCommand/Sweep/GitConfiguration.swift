import CofferConsole

/// The helpers for credentials in git's configuration of the user. git itself reads and writes it.
struct GitConfiguration {
  private static let key = "credential.helper"

  /// The values of `credential.helper`.
  /// - Throws: not found, if there is no git; other, if it fails.
  static func helpers() throws -> [String] {
    try values(["--global", "--get-all", key])
  }

  /// The values of all helpers that git asks outside of a repository: for single URLs, of the system and in included files, too.
  /// - Throws: as `helpers`.
  static func allHelpers() throws -> [String] {
    // Each begins with the name of the setting, and a line end.
    try values(["--get-regexp", #"^credential\.(.*\.)?helper$"#]).map { String($0.drop { $0 != "\n" }.dropFirst()) }
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
  /// `git credential-store` would write the next password into the file again.
  private static func isStore(_ helper: String) -> Bool { helper == "store" || helper.hasPrefix("store ") }

  /// Why git would write the next password into the file again.
  static func obstacle() -> String? {
    do {
      // A sweep changes the setting for all URLs in the user's own file alone.
      let isSetElsewhere =
        try GitConfiguration.allHelpers().filter(isStore).count > GitConfiguration.helpers().filter(isStore).count
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
