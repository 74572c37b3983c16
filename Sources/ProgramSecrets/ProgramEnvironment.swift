internal import Glibc
internal import SecretMemory

/// The variables that a program gets. The values of references lie in locked memory until execve(2) copies them into the program.
package struct ProgramEnvironment {
  package struct Variable {
    package let name: [UInt8]
    package let text: SecretText
  }

  /// In the order in which they were set.
  package private(set) var variables: [Variable] = []
  /// A file of 1 MiB may set a hundred thousand, for each of which the others need not be looked at.
  private var names: Set<[UInt8]> = []
  /// Entries without `=`, which some programs pass on.
  private var others: [[UInt8]] = []

  /// - Parameter entries: `NAME=value`.
  /// - Throws: `referenceNotText`.
  package init(_ entries: [[UInt8]]) throws(TextError) {
    for entry in entries {
      guard let mark = entry.firstIndex(of: UInt8(ascii: "=")) else {
        others.append(entry)
        continue
      }
      let value = Array(entry[(mark + 1)...])
      let text = value.starts(with: SecretText.scheme) ? try SecretText(reference: value) : SecretText(plain: value)
      let name = Array(entry[..<mark])
      names.insert(name)
      variables.append(Variable(name: name, text: text))
    }
  }

  /// The variables of this process, byte for byte.
  package static var inherited: [[UInt8]] {
    var entries: [[UInt8]] = []
    var next: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = unsafe environ
    while let entry = unsafe next.pointee {
      entries.append(unsafe [UInt8](UnsafeRawBufferPointer(start: entry, count: strlen(entry))))
      unsafe next += 1
    }
    return entries
  }

  package mutating func set(_ name: String, to text: SecretText) {
    let name = Array(name.utf8)
    if !names.insert(name).inserted { variables.removeAll { $0.name == name } }
    variables.append(Variable(name: name, text: text))
  }

  /// The value of a variable without references. Returns nil if it is not set.
  package func plainValue(of name: String) -> [UInt8]? {
    let name = Array(name.utf8)
    return variables.first { $0.name == name }?.text.plain
  }

  /// The block for execve(2).
  /// - Parameters:
  ///   - secret: The secret of a reference.
  ///   - failure: The error to throw for one of a variable: `valueHasZeroByte`, `variableTooLong`, one of a filter or of `secret`.
  package func block(
    _ secret: (String) throws -> HeldSecret, failure: (_ name: String, any Error) -> any Error
  ) throws -> EnvironmentBlock {
    let block = EnvironmentBlock()
    for other in others { block.append(other) }
    for variable in variables {
      if let plain = variable.text.plain {
        block.append(variable.name + [UInt8(ascii: "=")] + plain)
      } else {
        do {
          block.append(try Self.entry(variable.name, try variable.text.resolved(secret)))
        } catch {
          throw failure(String(decoding: variable.name, as: UTF8.self), error)
        }
      }
    }
    return block
  }

  /// The secrets in the variables, as they are and as filters have changed them, with the names of the variables.
  package func secrets(_ secret: (String) throws -> HeldSecret) throws -> [(name: String, reference: String, held: HeldSecret)] {
    try variables.flatMap { variable in
      let name = String(decoding: variable.name, as: UTF8.self)
      let changed = try variable.text.resolved(secret).compactMap { piece -> HeldSecret? in
        if case .secret(let held) = piece { held } else { nil }
      }
      return try zip(variable.text.placeholders, changed).flatMap { placeholder, changed in
        let plain = (name, placeholder.reference, try secret(placeholder.reference))
        // The forms of a secret have those of the other filters.
        let isOther = placeholder.filters.count > 1 || [.xml, .sh].contains(placeholder.filters.first)
        return isOther ? [plain, (name, placeholder.reference, changed)] : [plain]
      }
    }
  }

  /// As the kernel passes it, MAX_ARG_STRLEN, with the zero byte at its end.
  private static let longestEntry = 131_072

  private static func entry(_ name: [UInt8], _ values: [SecretText.Value]) throws -> HeldSecret {
    let count = values.reduce(name.count + 2) { $0 + $1.count }
    guard count <= longestEntry else { throw TextError(.variableTooLong, at: 0, "\(count) bytes") }
    var entry = try Secret(count: count)
    entry.write(name + [UInt8(ascii: "=")], at: 0)
    var offset = name.count + 1
    for value in values {
      try value.withBytes { bytes in
        guard !(0..<bytes.byteCount).contains(where: { bytes.byte(at: $0) == 0 }) else { throw TextError(.valueHasZeroByte) }
        entry.write(bytes, at: offset)
      }
      offset += value.count
    }
    return HeldSecret(entry)
  }
}

/// Variables as execve(2) takes them. Those with secrets are in locked memory, the others are not.
package final class EnvironmentBlock {
  private var plain: [UInt8] = []
  private var plainOffsets: [Int] = []
  private var held: [HeldSecret] = []

  func append(_ entry: [UInt8]) {
    plainOffsets.append(plain.count)
    plain += entry + [0]
  }

  func append(_ entry: HeldSecret) { held.append(entry) }

  /// - Parameter body: gets an array that ends with a null pointer, valid until it returns.
  package func lend<Result>(_ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result) -> Result {
    unsafe plain.withUnsafeMutableBytes { bytes in
      var pointers: [UnsafeMutablePointer<CChar>?] = unsafe []
      for offset in plainOffsets {
        unsafe pointers.append((bytes.baseAddress! + offset).assumingMemoryBound(to: CChar.self))
      }
      for entry in held {
        unsafe pointers.append(
          entry.secret.withPointer { unsafe UnsafeMutableRawPointer(mutating: $0).assumingMemoryBound(to: CChar.self) })
      }
      unsafe pointers.append(nil)
      // The pointers into locked memory are valid as long as `held` is.
      return withExtendedLifetime(held) { unsafe pointers.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) } }
    }
  }
}

// MARK: To another process

extension EnvironmentBlock {
  /// Before bytes of a secret: their count with this bit. Before those of the others, which come first: their count.
  private static let secretMark: UInt32 = 1 << 31
  private static let endMark = UInt32.max

  /// Writes the variables for `init(reading:)`.
  package func write(_ sink: (RawSpan) throws -> Void) rethrows {
    func write(_ number: UInt32) throws { try unsafe withUnsafeBytes(of: number) { try unsafe sink(RawSpan(_unsafeBytes: $0)) } }
    try write(UInt32(plain.count))
    try unsafe plain.withUnsafeBytes { try unsafe sink(RawSpan(_unsafeBytes: $0)) }
    for entry in held {
      try write(UInt32(entry.secret.count) | Self.secretMark)
      try entry.secret.withBytes(sink)
    }
    try write(Self.endMark)
  }

  /// - Parameter read: Fills all of the memory.
  /// - Throws: what `read` throws; as `Secret(count:)`.
  package convenience init(reading read: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
    self.init()
    while true {
      var head: UInt32 = 0
      try unsafe withUnsafeMutableBytes(of: &head) { try unsafe read($0) }
      guard head != Self.endMark else { return }
      let count = Int(head & ~Self.secretMark)
      if head & Self.secretMark != 0 {
        var secret = try Secret(count: count)
        try secret.withMutableBytes { bytes in try unsafe bytes.withUnsafeMutableBytes { try unsafe read($0) } }
        append(HeldSecret(secret))
      } else if count > 0 {
        var bytes = [UInt8](repeating: 0, count: count)
        try unsafe bytes.withUnsafeMutableBytes { try unsafe read($0) }
        for entry in bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false) { append(Array(entry)) }
      }
    }
  }
}
