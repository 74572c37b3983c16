import Glibc
import VaultCore

/// Where a passphrase comes from when a vault is opened.
///
/// In this order: a descriptor, the credentials of the service manager, a person at the controlling terminal. Nobody there is an
/// error at once: a program that waits for a person who is not there hangs for ever.
struct PassphraseSource {
  let descriptor: Int32?
  let option: String
  /// The service manager's credential is the passphrase of today, never the next one.
  var isNew = false
  let isInputAllowed: Bool

  enum Place {
    case descriptor(Descriptor)
    case person
  }

  func place() throws -> Place {
    if let descriptor { return .descriptor(try .given(descriptor, by: option)) }
    if !isNew, let directory = Environment["CREDENTIALS_DIRECTORY"] {
      let path = directory + "/coffer.passphrase"
      if unsafe access(path, F_OK) == 0 { return .descriptor(try .open(path)) }
    }
    return .person
  }

  /// One line, asked for or read.
  func read(_ question: String, _ isTyped: inout Bool) throws -> Secret {
    switch try place() {
    case .descriptor(let descriptor): return try Secret.readingLine(descriptor)
    case .person:
      isTyped = true
      return try Person.ask(question, isAllowed: isInputAllowed)
    }
  }

  /// A new passphrase, typed twice.
  func readNew(_ question: String) throws -> Secret {
    switch try place() {
    case .descriptor(let descriptor): return try Secret.readingLine(descriptor)
    case .person: return try Person.askTwice(question, isAllowed: isInputAllowed)
    }
  }
}

extension Secret {
  /// The longest line that is read as a passphrase or a recovery key. The vault's own limit is lower.
  private static let longestLine = 64 << 10

  /// Everything but the end of the line.
  /// - Throws: usage, for a terminal: it would show what is typed.
  static func readingLine(_ descriptor: Descriptor) throws -> Secret {
    guard !descriptor.isTerminal else {
      throw Failure.usage(
        "\(descriptor.name): is a terminal, and would show what is typed", hint: "without the option it is asked for")
    }
    var secret = try Secret.reading(descriptor, limit: longestLine)
    secret.dropLineEnd()
    return secret
  }

  /// The content of a key file. The caller's files must be open before `Hardening.hide()`.
  static func readingFile(_ path: String) throws -> Secret {
    let file = try Descriptor.open(path)
    defer { file.close() }
    return try reading(file)
  }
}
