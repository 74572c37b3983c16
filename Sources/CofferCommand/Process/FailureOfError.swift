import AppContainers
import ArgumentParser
import Coffer
import CofferApps
import CofferFiles
import CofferStorage
import VaultCore

extension Failure {
  /// What `error` means to the caller. `subject` is what the command was about: a name, a path.
  init(_ error: any Error, about subject: String? = nil) {
    switch error {
    case let failure as Failure: self = failure
    case is EmptyPassphrase: self.init(.usage, [subject, "the passphrase is empty"].compactMap(\.self).joined(separator: ": "))
    case let error as VaultError:
      self.init(FailureTable.vault[error.code.name], error.code.name, error.detail, subject)
    case let error as StorageError:
      self.init(FailureTable.storage[error.code.name], error.code.name, error.detail, subject)
    case let error as AppsError:
      self.init(FailureTable.applications[error.code.name], error.code.name, error.detail, subject)
    case let error as KeychainError:
      let entry =
        FailureTable.vault[error.cause] ?? FailureTable.storage[error.cause] ?? FailureTable.keychain[error.cause]
        ?? FailureTable.applications[error.cause] ?? FailureTable.containers[error.cause]
      self.init(entry ?? FailureTable.keychain[error.code.name], error.cause, error.detail, subject)
    case let error as ContainerError:
      self.init(FailureTable.containers[error.code.name], error.code.name, error.detail, subject)
    default:
      self.init(.other, [subject, "\(error)"].compactMap(\.self).joined(separator: ": "))
    }
  }

  init(_ entry: FailureTable.Entry?, _ code: String, _ detail: String, _ subject: String?) {
    let message = [subject, entry?.message ?? code].compactMap(\.self).joined(separator: ": ")
    // What it is about stands in front already.
    let detail = detail == subject ? "" : detail
    self.init(entry?.status ?? .other, detail.isEmpty ? message : "\(message) (\(detail))", hint: entry?.hint)
  }
}

extension Failure {
  /// What the parser of the arguments has to say, in the form of all other errors. Help and versions are no failures.
  init(parsing error: any Error) {
    let lines = Coffer.fullMessage(for: error).split(separator: "\n")
    let usage = lines.first { $0.hasPrefix("Usage: ") }?.dropFirst("Usage: ".count).split(separator: " ") ?? ["coffer"]
    let command = usage.prefix { $0.first?.isLetter == true }.joined(separator: " ")
    let message = Coffer.message(for: error).split(separator: "\n").first.map(String.init) ?? "Not understood"
    let isOfProgram = ["coffer app run", "coffer app dev"].contains(command) && message.contains("nexpected argument")
    self = .usage(
      "arguments: \(message.prefix(1).lowercased())\(message.dropFirst())",
      hint: isOfProgram ? "what the program gets stands after --" : "\(command) --help")
  }
}

/// Runs `body`, and says what an error in it was about.
func about<Result: ~Copyable>(_ subject: @autoclosure () -> String, _ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch {
    throw Failure(error, about: subject())
  }
}
