import ArgumentParser
import Coffer
import CofferConsole
import CofferFiles
import CofferRequests
import CofferWire
import DefaultsCommand
import Glibc
import ProgramSecrets
import VaultCore

/// The names that a shell offers for Tab. Names in the vault come from an agent that has it open. Nothing is asked for, and a failure is an
/// empty list.
///
/// bash expands each word of a list of completions (`compgen -W`), and an app chooses the names of its items: a name with a character that
/// has a meaning for a shell is not offered, so that Tab starts no program.
enum OfferedNames {
  /// The items of the group that `--group` names, and of the class that `--class` names; references behind `coffer:`.
  static let items: CompletionKind = .custom { words, _, prefix in
    prefix.hasPrefix("coffer:") ? offered(words, behind: "", prefix) : plain((try? itemNames(words)) ?? [], prefix)
  }

  private static func itemNames(_ words: [String]) throws -> [String] {
    let group = try AccessGroup(value(of: "--group", in: words) ?? AccessGroup.standard.name)
    let itemClass = value(of: "--class", in: words).flatMap(ClassName.init(rawValue:)) ?? .genericPassword
    guard let keychain = try unlockedAgent(words) else { return [] }
    return try keychain.listing(KeychainQuery(itemClass.itemClass, group: group)).entries.map(\.name)
  }

  static let groups = offer { words in
    guard try unlockedAgent(words) != nil else { return [] }
    return try options(words).ownedVault().apps(isReading: true).groups().map(\.name)
  }

  /// Those of the Secret Service.
  static let collections = offer { words in
    guard try unlockedAgent(words) != nil else { return [] }
    return try Collections.names(in: options(words).ownedVault().apps(isReading: true))
  }

  static let apps = offer { words in
    guard try unlockedAgent(words) != nil else { return [] }
    return try options(words).ownedVault().apps(isReading: true).pins().map(\.applicationIdentifier)
  }

  /// The file lists its slots without a key.
  static let slots = offer { words in try options(words).ownedVault().slots().map { "\($0.index)" } }

  /// The programs of PATH.
  static let programs = offer { _ in
    let directories = (Environment["PATH"] ?? "").split(separator: ":").map(String.init)
    let names = directories.flatMap { directory in
      ((try? OpenDirectory.foreign(directory).names()) ?? []).map(\.description).filter {
        unsafe access("\(directory)/\($0)", X_OK) == 0
      }
    }
    return Array(Set(names))
  }

  /// Offered after each verb of `coffer defaults`.
  static let domains = offer { words in
    guard words.count < 5 else { return [] }
    return try DefaultsProgram.domains()
  }

  /// Verbs, options and roles behind `coffer sync`: its own program knows them.
  static let syncWords: CompletionKind = .custom { words, index, prefix in
    let words = words.prefix(index).dropFirst(2) + [prefix]
    guard let outcome = try? ProgramOutput.of(SyncNoun.program(), ["offers", "--"] + words), outcome.status == 0 else {
      return []
    }
    return String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private static func offer(_ names: @escaping @Sendable ([String]) throws -> [String]) -> CompletionKind {
    .custom { words, _, prefix in plain((try? names(words)) ?? [], prefix) }
  }

  private static func plain(_ names: [String], _ prefix: String) -> [String] {
    Set(names).filter { $0.hasPrefix(prefix) && isOffered($0) }.sorted()
  }

  /// References of `coffer run`.
  static let references: CompletionKind = .custom { words, _, prefix in offered(words, behind: "", prefix) }

  /// Those behind `NAME=`.
  static let namedReferences: CompletionKind = .custom { words, _, prefix in
    guard let mark = prefix.firstIndex(of: "="), VariableName.isIdentifier(String(prefix[..<mark])) else { return [] }
    return offered(words, behind: String(prefix[...mark]), prefix)
  }

  private static func offered(_ words: [String], behind name: String, _ prefix: String) -> [String] {
    let found = ((try? references(words)) ?? []).map { name + $0 }.filter { $0.hasPrefix(prefix) }
    let isInZsh = Environment["SAP_SHELL"] == "zsh"
    return Set(found).sorted().map { isInZsh ? $0.replacing(":", with: #"\:"#) : $0 }
  }

  /// Each is percent-encoded, and so has no character with a meaning for a shell.
  private static func references(_ words: [String]) throws -> [String] {
    guard let keychain = try unlockedAgent(words) else { return [] }
    return try keychain.listing(KeychainQuery(nil)).entries.shown(of: nil).map { $0.item.reference(in: $0.reference.group) }
  }

  /// A colon separates words in bash, and a name from its description in zsh.
  private static func isOffered(_ name: String) -> Bool {
    name.isPlainWord && !name.contains(":") && name.utf8.first != UInt8(ascii: "-")
  }

  private static func unlockedAgent(_ words: [String]) throws -> Keychain? {
    let keychain = try options(words).ownedVault().agent()
    return try keychain.agentStateIfThere() == .unlocked ? keychain : nil
  }

  /// The options of this command line that name the vault.
  private static func options(_ words: [String]) throws -> VaultOptions {
    let path = value(of: "--vault", in: words).map { ["--vault", $0] } ?? []
    return try VaultOptions.parse(["--no-input"] + (words.contains("--system") ? ["--system"] : []) + path)
  }

  private static func value(of option: String, in words: [String]) -> String? {
    guard let index = words.lastIndex(of: option), words.indices.contains(index + 1) else { return nil }
    return words[index + 1]
  }
}
