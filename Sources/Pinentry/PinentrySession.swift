internal import CofferFiles
internal import SecretMemory

/// The part of the Assuan protocol that pinentry uses: a line per command; data, status and comment lines; then OK or ERR.
final class PinentrySession {
  /// The maximum number of lines in an answer.
  private static let lineCount = 64
  /// The longest passphrase that is accepted, in bytes. Existing pinentries send about 2,000 at most.
  private static let passphraseByteCount = 8192

  private enum Reply {
    case ok
    case failed(PinentryError)
  }

  private let process: PinentryProcess
  private let patience: Pinentry.Patience
  /// The deadline of all questions of this session.
  private let deadline: Deadline

  /// Starts the program and sends the texts of the question.
  /// - Throws: `PinentryError`; `VaultError` of locked memory.
  init(
    _ program: PinentryProgram, _ display: Display, _ question: Pinentry.Question, _ seconds: Int,
    _ patience: Pinentry.Patience, _ withdrawal: Int32, _ isWanted: (() -> Bool)?
  ) throws {
    process = try PinentryProcess(program.path, program.environment(at: display), withdrawal: withdrawal, while: isWanted)
    self.patience = patience
    deadline = Deadline(milliseconds: Int64(seconds) * 1000 + patience.grace)
    // The pinentry sends a greeting first.
    guard case .ok = try reply(nil, Deadline(milliseconds: patience.reaction)) else {
      throw PinentryError(.malformed, "no greeting")
    }
    for (name, value) in [
      ("display", display.x11), ("ttyname", display.terminal), ("ttytype", display.terminalType),
      ("lc-ctype", display.characterType),
    ] {
      guard let value else { continue }
      try suggest("OPTION \(name)=\(PinentryText.escaped(value))")
    }
    try suggest("SETTITLE \(PinentryText.escaped(question.title))")
    try suggest("SETTIMEOUT \(seconds)")
    // Without these texts the person could not tell what the question is.
    try require("SETDESC", question.description)
    if let error = question.error { try require("SETERROR", error) }
  }

  // MARK: Commands

  /// Sends a command that not all pinentries support; an error is ignored.
  func suggest(_ command: String) throws {
    _ = try reply(command, Deadline(milliseconds: patience.reaction))
  }

  /// Sends a command with a text.
  /// - Throws: `PinentryError`: `failed`.
  func require(_ command: String, _ text: String) throws {
    let line = "\(command) \(PinentryText.escaped(text))"
    if case .failed(let error) = try reply(line, Deadline(milliseconds: patience.reaction)) { throw error }
  }

  /// - Throws: `PinentryError`; `VaultError` of locked memory.
  func typed() throws -> Secret {
    var typed = try Secret(count: Self.passphraseByteCount)
    var count = 0
    switch try reply("GETPIN", deadline, data: { try Self.decode($0, into: &typed, &count) }) {
    case .failed(let error): throw error
    case .ok:
      typed.truncate(to: count)
      return typed
    }
  }

  /// Maps the error by the lower half of its number, which is libgpg-error's. The text after it is libgpg-error's description.
  private static func error(_ line: RawSpan) throws -> PinentryError {
    let (number, end) = try line.number(from: 4)
    switch number & 0xFFFF {
    case 99, 198: return PinentryError(.cancelled)
    case 62: return PinentryError(.timedOut)
    default:
      let text = String(decoding: (end..<line.byteCount).map { line.byte(at: $0) }, as: UTF8.self)
      let words = PinentryText.visible(String(text.drop { $0 == " " }), limit: 200)
      return PinentryError(.failed, words.isEmpty ? "error \(number & 0xFFFF) of libgpg-error" : words)
    }
  }

  // MARK: Lines

  private func reply(
    _ command: String?, _ deadline: Deadline, data: (RawSpan) throws -> Void = { _ in }
  ) throws -> Reply {
    if let command { try process.send(command, deadline) }
    for _ in 0..<Self.lineCount {
      let reply: Reply? = try process.receive(deadline) { line in
        if line.begins(with: "D ") {
          try data(line.extracting(2..<line.byteCount))
          return nil
        }
        if line.begins(with: "S ") || line.begins(with: "#") { return nil }
        if line.begins(with: "ERR ") { return .failed(try Self.error(line)) }
        guard line.begins(with: "OK"), line.byteCount == 2 || line.byte(at: 2) == UInt8(ascii: " ") else {
          throw PinentryError(.malformed, "a line of another kind")
        }
        return .ok
      }
      if let reply { return reply }
    }
    throw PinentryError(.tooMuch, "more than \(Self.lineCount) lines")
  }

  /// Appends the bytes with the escapes resolved.
  private static func decode(_ bytes: RawSpan, into typed: inout Secret, _ count: inout Int) throws {
    var index = 0
    while index < bytes.byteCount {
      var byte = bytes.byte(at: index)
      index += 1
      if byte == UInt8(ascii: "%") {
        guard index + 1 < bytes.byteCount, let high = hexadecimal(bytes.byte(at: index)),
          let low = hexadecimal(bytes.byte(at: index + 1))
        else { throw PinentryError(.malformed, "an escape") }
        byte = high << 4 | low
        index += 2
      }
      guard count < typed.count else { throw PinentryError(.tooMuch, "more than \(typed.count) bytes typed") }
      let (place, value) = (count, byte)
      typed.withMutableBytes { $0.storeBytes(of: value, toByteOffset: place, as: UInt8.self) }
      count += 1
    }
  }

  private static func hexadecimal(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}

extension RawSpan {
  fileprivate func begins(with text: String) -> Bool {
    byteCount >= text.utf8.count && text.utf8.enumerated().allSatisfy { byte(at: $0) == $1 }
  }

  /// - Returns: The number, and the index after it.
  /// - Throws: `malformed`.
  fileprivate func number(from start: Int) throws -> (number: UInt32, end: Int) {
    var number: UInt32 = 0
    var index = start
    while index < byteCount, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte(at: index)) {
      let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, overflows) = product.addingReportingOverflow(UInt32(byte(at: index) - UInt8(ascii: "0")))
      guard !isTooLarge, !overflows else { throw PinentryError(.malformed, "a number") }
      number = sum
      index += 1
    }
    guard index > start else { throw PinentryError(.malformed, "a number") }
    return (number, index)
  }
}
