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
      variables.append(Variable(name: Array(entry[..<mark]), text: text))
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
    variables.removeAll { $0.name == name }
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
