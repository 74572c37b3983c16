import CofferSync
import VaultCore

/// The calls of an engine as bytes, for the pipes of ssh. A frame is a u32 length and so many bytes.
///
/// Both ends are of one version of Coffer or refuse each other by the first byte. Neither believes the other.
enum EngineCall {
  static let version: UInt8 = 3
  /// In bytes, of a frame: a batch of the directory, and the overheads of its entries.
  static let maximumByteCount = DirectoryEngine.batchByteCount + (2 << 20)

  case append(UInt64, [UInt8])
  case read(UInt64, limit: Int)
  case put(ObjectName, [UInt8])
  case get(ObjectName)
  /// Answered when the log may have this entry, when the next call comes, or after a time.
  case wait(UInt64)
  case names(after: ObjectName?)
  case delete([ObjectName])
  case deleteEntries([Range<UInt64>])

  var bytes: [UInt8] {
    switch self {
    case .append(let number, let entry): [1] + number.littleEndianBytes + entry
    case .read(let number, let limit): [2] + number.littleEndianBytes + UInt32(limit).littleEndianBytes
    case .put(let name, let object): [3] + name.digest.bytes + object
    case .get(let name): [4] + name.digest.bytes
    case .wait(let number): [5] + number.littleEndianBytes
    case .names(let last): [6] + (last?.digest.bytes ?? [])
    case .delete(let names): [7] + names.flatMap(\.digest.bytes)
    case .deleteEntries(let ranges):
      [8] + ranges.flatMap { $0.lowerBound.littleEndianBytes + $0.upperBound.littleEndianBytes }
    }
  }

  /// - Returns: nil for another form.
  init?(_ bytes: [UInt8]) {
    var rest = bytes.dropFirst()
    switch bytes.first {
    case 1:
      guard let number = Self.integer(&rest, 8) else { return nil }
      self = .append(number, Array(rest))
    case 2:
      guard let number = Self.integer(&rest, 8), let limit = Self.integer(&rest, 4), rest.isEmpty else { return nil }
      self = .read(number, limit: Int(limit))
    case 3:
      guard let name = Self.name(&rest) else { return nil }
      self = .put(name, Array(rest))
    case 4:
      guard let name = Self.name(&rest), rest.isEmpty else { return nil }
      self = .get(name)
    case 5:
      guard let number = Self.integer(&rest, 8), rest.isEmpty else { return nil }
      self = .wait(number)
    case 6:
      guard let names = Self.names(rest), names.count <= 1 else { return nil }
      self = .names(after: names.first)
    case 7:
      guard let names = Self.names(rest) else { return nil }
      self = .delete(names)
    case 8:
      var ranges: [Range<UInt64>] = []
      while !rest.isEmpty {
        guard let start = Self.integer(&rest, 8), let end = Self.integer(&rest, 8), start <= end else { return nil }
        ranges.append(start..<end)
      }
      self = .deleteEntries(ranges)
    default: return nil
    }
  }

  static func integer(_ bytes: inout ArraySlice<UInt8>, _ count: Int) -> UInt64? {
    guard bytes.count >= count else { return nil }
    defer { bytes = bytes.dropFirst(count) }
    return bytes.prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// - Returns: nil for another form.
  static func names(_ bytes: ArraySlice<UInt8>) -> [ObjectName]? {
    var (rest, names): (ArraySlice<UInt8>, [ObjectName]) = (bytes, [])
    while !rest.isEmpty {
      guard let name = name(&rest) else { return nil }
      names.append(name)
    }
    return names
  }

  private static func name(_ bytes: inout ArraySlice<UInt8>) -> ObjectName? {
    guard let digest = Digest(bytes.prefix(Digest.byteCount)) else { return nil }
    bytes = bytes.dropFirst(Digest.byteCount)
    return ObjectName(digest: digest)
  }
}

/// The answer to a call.
enum EngineAnswer {
  case appended(Appended)
  case entries([NumberedEntry])
  case done
  case object([UInt8]?)
  case failed(String)
  case names([ObjectName])

  private static let outcomes: [Appended] = [.made, .taken, .shorter]

  var bytes: [UInt8] {
    switch self {
    case .appended(let outcome): return [1, UInt8(Self.outcomes.firstIndex(of: outcome) ?? 0)]
    case .entries(let entries):
      var bytes: [UInt8] = [2]
      for entry in entries {
        bytes += entry.number.littleEndianBytes
        bytes += UInt32(entry.bytes.count).littleEndianBytes
        bytes += entry.bytes
      }
      return bytes
    case .done: return [3]
    case .object(let object): return object.map { [4, 1] + $0 } ?? [4, 0]
    case .failed(let message): return [5] + Array(message.utf8)
    case .names(let names): return [6] + names.flatMap(\.digest.bytes)
    }
  }

  /// - Returns: nil for another form.
  init?(_ bytes: [UInt8]) {
    var rest = bytes.dropFirst()
    switch bytes.first {
    case 1:
      guard let outcome = rest.first, Int(outcome) < Self.outcomes.count, rest.count == 1 else { return nil }
      self = .appended(Self.outcomes[Int(outcome)])
    case 2:
      var entries: [NumberedEntry] = []
      while !rest.isEmpty {
        guard let number = EngineCall.integer(&rest, 8), let count = EngineCall.integer(&rest, 4), rest.count >= count else {
          return nil
        }
        entries.append(NumberedEntry(number, Array(rest.prefix(Int(count)))))
        rest = rest.dropFirst(Int(count))
      }
      self = .entries(entries)
    case 3: self = .done
    case 4: self = .object(rest.first == 1 ? Array(rest.dropFirst()) : nil)
    case 5: self = .failed(String(decoding: rest.prefix(1024), as: UTF8.self))
    case 6:
      guard let names = EngineCall.names(rest) else { return nil }
      self = .names(names)
    default: return nil
    }
  }
}
