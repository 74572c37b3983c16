import CofferConsole
import CofferFiles
import CofferStorage
import Glibc
import ProgramSecrets
import SecretMemory
import VaultCore

/// Where a passphrase comes from when a vault is opened.
///
/// In this order: a descriptor, the credentials of the service manager, a person at the controlling terminal. No person there is an
/// error at once: a program that waits for a person who is not there hangs for ever.
struct PassphraseSource {
  let descriptor: Int32?
  let option: String
  /// The service manager's credential is the passphrase of today, never the next one.
  var isNew = false
  let isInputAllowed: Bool

  private static let fewCharacters = 8

  enum Place {
    case descriptor(Descriptor)
    case person
  }

  func place() throws -> Place {
    if let descriptor { return .descriptor(try .given(descriptor, by: option)) }
    if !isNew,
      let path = try ServiceCredentials.path(of: ServiceCredentials.passphraseFile, environment: { Environment[$0] })
    {
      return .descriptor(try .open(path))
    }
    return .person
  }

  /// One line, asked for or read.
  /// - Parameter error: Why it is asked for again.
  func read(_ question: String, _ isTyped: inout Bool, error: String? = nil) throws -> Secret {
    switch try place() {
    case .descriptor(let descriptor): return try Self.notEmpty(Secret.readingLine(descriptor))
    case .person:
      isTyped = true
      return try Self.notEmpty(Person.ask(question, isAllowed: isInputAllowed, error: error))
    }
  }

  /// A new passphrase, typed twice.
  func readNew(_ question: String) throws -> Secret {
    switch try place() {
    case .descriptor(let descriptor): return try weighed(Self.notEmpty(Secret.readingLine(descriptor)), isTyped: false)
    case .person:
      return try weighed(
        Self.notEmpty(Person.askTwice(question, isAllowed: isInputAllowed, isEmptyAllowed: false)), isTyped: true)
    }
  }

  private static func notEmpty(_ passphrase: consuming Secret) throws -> Secret {
    guard passphrase.count > 0 else { throw EmptyPassphrase() }
    return passphrase
  }

  /// A weak one is noted. At a terminal the person may take it back; elsewhere it is the caller's affair.
  private func weighed(_ passphrase: consuming Secret, isTyped: Bool) throws -> Secret {
    guard let strength = PassphraseStrength(of: passphrase) else {
      noteLength(passphrase)
      return passphrase
    }
    guard strength.isNoted else { return passphrase }
    Descriptor.error.note("note: guessing this passphrase takes \(strength.time), at 1,000 guesses a second\n")
    if strength.isAsked, isTyped, HiddenTerminal.hide() != nil {
      guard try Question.isYes("Take it all the same? [y/N] ") else { throw Failure.cancelled }
    }
    return passphrase
  }

  /// Without the program that estimates its strength.
  private func noteLength(_ passphrase: borrowing Secret) {
    let count = passphrase.withBytes { bytes in
      // Bytes that begin a character, as far as UTF-8 tells.
      (0..<bytes.byteCount).count { bytes.byte(at: $0) & 0xC0 != 0x80 }
    }
    if (1..<Self.fewCharacters).contains(count) {
      Descriptor.error.note("note: the passphrase has fewer than \(Self.fewCharacters) characters\n")
    }
  }
}

/// No vault has an empty one, so none is tried.
struct EmptyPassphrase: Explained {
  let explanation = Explanation(.usage, "the passphrase is empty")
  let detail = ""
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
    var secret: Secret
    do { secret = try Secret.reading(descriptor, limit: longestLine) } catch VaultError.Code.secretTooLarge {
      throw Failure.usage(
        "\(descriptor.name): has more than \(longestLine) bytes", hint: "a passphrase has 1 to 4096 bytes, a recovery key 63")
    }
    secret.dropLineEnd()
    return secret
  }

  /// The content of a key file, which is closed then.
  static func readingFile(_ file: Descriptor) throws -> Secret {
    defer { file.close() }
    return try reading(file)
  }
}
