package import CofferFiles
package import SecretMemory

/// A value of a message.
package indirect enum Value: Sendable {
  case text(String)
  case path(String)
  case flag(Bool)
  case number(UInt64)
  /// A number of 32 bits, in answers alone: in what others send every number is a `number`.
  case word(UInt32)
  case descriptor(Descriptor)
  /// Every array of bytes may be a secret, so it is in locked memory.
  case bytes(Bytes)
  /// - element: The signature of the elements, because the array may be empty.
  case array(element: String, [Value])
  case entry(Value, Value)
  case structure([Value])
  case variant(Value)

  /// Shares a secret between values.
  package final class Bytes: Sendable {
    package let secret: Secret

    package init(_ secret: consuming Secret) { self.secret = secret }
  }

  /// An open file of another program. It is closed with the last value that has it.
  package final class Descriptor: Sendable {
    package let descriptor: OwnedDescriptor

    package init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }
  }

  /// As the specification of D-Bus writes types.
  package var signature: String {
    switch self {
    case .text: "s"
    case .path: "o"
    case .flag: "b"
    case .number: "t"
    case .word: "u"
    case .descriptor: "h"
    case .bytes: "ay"
    case .array(let element, _): "a" + element
    case .entry(let key, let value): "{\(key.signature)\(value.signature)}"
    case .structure(let parts): "(\(parts.map(\.signature).joined()))"
    case .variant: "v"
    }
  }

  /// Whether it has bytes anywhere.
  package var isSensitive: Bool {
    switch self {
    case .text, .path, .flag, .number, .word, .descriptor: false
    case .bytes: true
    case .array(_, let values), .structure(let values): values.contains(where: \.isSensitive)
    case .entry(let key, let value): key.isSensitive || value.isSensitive
    case .variant(let value): value.isSensitive
    }
  }

  package static func paths(_ paths: [String]) -> Value { .array(element: "o", paths.map { .path($0) }) }

  package static func texts(_ texts: [String: String]) -> Value {
    .array(element: "{ss}", texts.sorted { $0.key < $1.key }.map { .entry(.text($0.key), .text($0.value)) })
  }

  package static func properties(_ properties: [(String, Value)]) -> Value {
    .array(element: "{sv}", properties.map { .entry(.text($0.0), .variant($0.1)) })
  }
}
