import CofferPropertyLists

/// The kinds of keys in the domain `ID.sync`: each begins with one of these words and a space.
enum StateKey: String {
  /// `key NAME`: the record of a key of the store.
  case record = "key"
  /// `refused NAME`: a value of this device that the log has refused.
  case refused
  /// `event NUMBER`.
  case event

  func key(_ name: String) -> String { "\(rawValue) \(name)" }

  /// By bytes: a name that begins with a combining character forms one character with the space before it.
  func name(in key: String) -> String? {
    let start = Array("\(rawValue) ".utf8)
    return key.utf8.starts(with: start) ? String(decoding: key.utf8.dropFirst(start.count), as: UTF8.self) : nil
  }

  /// In the byte order of the numbers' texts, which is that of the numbers.
  static func event(_ sequence: Int64) -> String {
    let digits = String(sequence)
    return event.key(String(repeating: "0", count: max(0, 19 - digits.utf8.count)) + digits)
  }

  /// The number of the last entry whose changes are in the store.
  static let delivered = "delivered"
  /// The hashes of the values that are being received.
  static let receiving = "receiving"
  /// The names of damaged journals after which the store has met the log again.
  static let damaged = "damaged"
}

/// The value of a key that was last sent or received. A key without a value has no record.
struct SyncedRecord: Equatable {
  let dot: [UInt8]
  let entry: UInt64
  let hash: [UInt8]

  init(dot: [UInt8], entry: UInt64, hash: [UInt8]) {
    self.dot = dot
    self.entry = entry
    self.hash = hash
  }

  private static let dotName = "dot"
  private static let entryName = "entry"
  private static let hashName = "hash"

  var value: PropertyListValue {
    var fields = PropertyListDictionary()
    fields[Self.dotName] = .data(dot)
    fields[Self.entryName] = .number(entry)
    fields[Self.hashName] = .data(hash)
    return .dictionary(fields)
  }

  /// Returns nil if it is not a record. An app can write the file: a damaged record counts as none.
  init?(_ value: PropertyListValue?) {
    guard case .dictionary(let fields)? = value, case .data(let dot)? = fields[Self.dotName],
      case .data(let hash)? = fields[Self.hashName], let entry = fields[Self.entryName]?.natural
    else { return nil }
    self.init(dot: dot, entry: entry, hash: hash)
  }
}

extension PropertyListValue {
  /// A natural number; nil for other values.
  var natural: UInt64? {
    switch self {
    case .integer(let value): UInt64(exactly: value)
    case .unsigned(let value): value
    default: nil
    }
  }

  /// The bytes of data; empty for other values.
  var bytes: [UInt8] { if case .data(let bytes) = self { bytes } else { [] } }
}
