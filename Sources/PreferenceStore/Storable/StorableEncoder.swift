internal import CofferPreferences
internal import CofferPropertyLists
internal import Foundation

/// Encodes as Foundation's `PropertyListEncoder`, but directly to values instead of bytes, and to a limited depth: Foundation's
/// encoder overflows the stack on deep values.
struct StorableEncoder: Encoder {
  /// The value that Foundation's coders write for nil if a value is required.
  static let null = PropertyListValue.string("$null")

  let node: EncodedNode
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// - Throws: `valueTooDeep`; any error of the value's `encode(to:)`.
  static func encode(_ value: some Encodable) throws -> PropertyListValue {
    let node = EncodedNode()
    try StorableEncoder(node: node, codingPath: []).put(value)
    return node.value
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(EncodedFields<Key>(encoder: self))
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer { EncodedElements(encoder: self) }
  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  /// An encoder for a nested value. It counts as a level even if it is not a container, because encoding it takes stack all the
  /// same.
  func inner(_ node: EncodedNode, _ key: any CodingKey) throws -> StorableEncoder {
    guard codingPath.count < PropertyList.maximumDepth else { throw PreferenceError(.valueTooDeep) }
    return StorableEncoder(node: node, codingPath: codingPath + [key])
  }

  func put(_ value: some Encodable) throws {
    switch value {
    case let date as Date: node.content = .value(date.storedValue())
    case let data as Data: node.content = .value(data.storedValue())
    default: try value.encode(to: self)
    }
  }
}

/// The values encoded so far. The encoders of one value share it.
final class EncodedNode {
  enum Content {
    case nothing
    case value(PropertyListValue)
    case elements([EncodedNode])
    case fields([String: EncodedNode])
  }

  var content = Content.nothing

  /// A value that encodes nothing is an empty dictionary.
  var value: PropertyListValue {
    switch content {
    case .nothing: return .dictionary(PropertyListDictionary())
    case .value(let value): return value
    case .elements(let nodes): return .array(nodes.map(\.value))
    case .fields(let nodes):
      var values = PropertyListDictionary(minimumCapacity: nodes.count)
      for (key, node) in nodes { values[key] = node.value }
      return .dictionary(values)
    }
  }

  func field(_ name: String) -> EncodedNode {
    let new = EncodedNode()
    guard case .fields(var nodes) = content else {
      content = .fields([name: new])
      return new
    }
    content = .nothing
    nodes[name] = new
    content = .fields(nodes)
    return new
  }

  func element() -> EncodedNode {
    let new = EncodedNode()
    guard case .elements(var nodes) = content else {
      content = .elements([new])
      return new
    }
    content = .nothing
    nodes.append(new)
    content = .elements(nodes)
    return new
  }
}

struct EncodedKey: CodingKey {
  let stringValue: String
  let intValue: Int?
  init(_ name: String) { (stringValue, intValue) = (name, nil) }
  init?(stringValue: String) { self.init(stringValue) }
  init(intValue: Int) { (stringValue, self.intValue) = ("Index \(intValue)", intValue) }
}
