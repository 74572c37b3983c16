package import CofferFiles
package import CofferSync
package import SyncEngines
package import VaultCore

/// An engine in a cluster of etcd. Section 9 of docs/sync-format.md.
///
/// A transaction makes an entry only if its number is free and the one before it is there: of several writers one gets the number.
package final class EtcdEngine: Engine {
  private static let maximumPages = 10_000

  private let connection: EtcdConnection
  private let prefix: [UInt8]
  private let isMailbox: Bool
  /// Whether what this engine has made is deleted with it.
  private var isTemporary = false
  private var watch: EtcdWatch?

  /// - Parameters:
  ///   - endpoints: `HOST:PORT` of its members.
  ///   - space: The space, or the mailbox of an exchange.
  ///   - purpose: Whether the mark of a space is made if it is missing. Only for a new space: a cluster that lost its data must not be
  ///     taken for a log that was put back.
  ///   - connectMilliseconds: For the connection to one member.
  ///   - callMilliseconds: For the answer of one member.
  /// - Throws: `missing`; as `append`.
  package init(
    _ endpoints: [String], _ certificates: EtcdCertificates, space: Identifier, _ purpose: EngineAddress.Purpose = .existing,
    connectMilliseconds: Int = 10_000, callMilliseconds: Int = 30_000
  ) throws(FileError) {
    // A new space has any identifier.
    let right = purpose.isMailbox ? "coffer/1/join/" : purpose == .new ? "coffer/1/" : "coffer/1/\(space)/"
    connection = try EtcdConnection(
      endpoints, certificates, prefix: right, connectMilliseconds: connectMilliseconds, callMilliseconds: callMilliseconds)
    // A role for mailboxes gives no right to spaces.
    prefix = Array("coffer/1/\(purpose.isMailbox ? "join/" : "")\(space)/".utf8)
    isMailbox = purpose.isMailbox
    if !purpose.isMade {
      guard try !range(EtcdRequest.range(mark, isOfKeysOnly: true)).pairs.isEmpty else { throw missing }
    } else {
      _ = try put(mark, [1], if: [.init(key: mark, isThere: false)], else: [])
      // A server that does not answer would not answer the deletion either.
      isTemporary = purpose == .temporary
    }
  }

  deinit {
    if isTemporary { try? connection.call("KV/DeleteRange", EtcdRequest.deletion(prefix, to: prefix.dropLast() + [0x30])) }
  }

  private var mark: [UInt8] { prefix + Array("made".utf8) }
  private var missing: FileError { FileError(.missing, String(decoding: prefix, as: UTF8.self)) }
  private var log: [UInt8] { prefix + Array("log/".utf8) }

  private func key(of number: UInt64) -> [UInt8] { log + Array(TemporaryName.hexadecimal(number).utf8) }
  private func key(of object: ObjectName) -> [UInt8] { prefix + Array("obj/\(object.hexadecimal)".utf8) }

  // MARK: Calls

  private func range(_ request: [UInt8]) throws(FileError) -> RangeAnswer {
    try connection.call("KV/Range", request, RangeAnswer.init)
  }

  private func put(
    _ key: [UInt8], _ value: [UInt8], if conditions: [EtcdRequest.Condition], else others: [[UInt8]]
  ) throws(FileError) -> PutAnswer {
    let request = EtcdRequest.put(key, value, if: conditions, else: others)
    return try connection.call("KV/Txn", request) { bytes throws(MessageReader.Malformed) in
      let answer = try PutAnswer(bytes)
      guard answer.isDone || answer.others.count == others.count else { throw MessageReader.Malformed() }
      return answer
    }
  }

  // MARK: The log

  /// - Throws: `missing`, `io` if no member answers in time, `accessDenied`, `full`, `tooLarge`, `toolFailed`.
  package func append(_ number: UInt64, _ entry: [UInt8]) throws(FileError) -> Appended {
    let key = key(of: number)
    var conditions: [EtcdRequest.Condition] = [.init(key: mark, isThere: true), .init(key: key, isThere: false)]
    var others = [mark]
    if number > 0 {
      conditions.append(.init(key: self.key(of: number - 1), isThere: true))
      others.append(self.key(of: number - 1))
    }
    let answer = try put(key, entry, if: conditions, else: others)
    if answer.isDone { return .made }
    guard answer.others[0] else { throw missing }
    return answer.others.allSatisfy { $0 } ? .taken : .shorter
  }

  /// - Throws: As `append`.
  package func read(from number: UInt64, limit: Int) throws(FileError) -> [NumberedEntry] {
    guard number < 1 << 62 else { return [] }
    var entries: [NumberedEntry] = []
    var byteCount = 0
    var start = key(of: number)
    // 16 of the longest entries are one batch.
    var size = 16
    for _ in 0..<Self.maximumPages {
      let page: RangeAnswer
      do {
        page = try range(EtcdRequest.range(start, to: key(of: 1 << 62), limit: min(size, limit - entries.count)))
      } catch {
        guard error.code == .tooLarge, size > 1 else { throw error }
        size = 1
        continue
      }
      var pageByteCount = 0
      for (key, value) in page.pairs {
        guard !key.lexicographicallyPrecedes(start) else { throw EtcdConnection.malformed }
        // The next key.
        start = key + [0]
        guard let number = self.number(of: key) else { continue }
        // One byte too many shows that it is too long.
        entries.append(NumberedEntry(number, Array(value.prefix(SealedEntry.maximumByteCount + 1))))
        pageByteCount += value.count
        if entries.count >= limit || byteCount + pageByteCount >= DirectoryEngine.batchByteCount { return entries }
      }
      byteCount += pageByteCount
      guard page.hasMore, !page.pairs.isEmpty else {
        // A mailbox goes with the device that made it, which the other one need not wait for.
        if isMailbox, entries.isEmpty, try range(EtcdRequest.range(mark, isOfKeysOnly: true)).pairs.isEmpty { throw missing }
        return entries
      }
      if size > 1, pageByteCount < 1 << 20 { size *= 2 }
    }
    throw EtcdConnection.malformed
  }

  /// - Returns: nil for a key of another form.
  private func number(of key: ArraySlice<UInt8>) -> UInt64? {
    guard key.starts(with: log), let number = UInt64(String(decoding: key.dropFirst(log.count), as: UTF8.self), radix: 16),
      self.key(of: number).elementsEqual(key)
    else { return nil }
    return number
  }

  // MARK: Objects

  /// An object that is there is replaced if it is damaged.
  /// - Throws: As `append`.
  package func put(_ name: ObjectName, _ object: [UInt8]) throws(FileError) {
    let isThere: Bool
    do { isThere = try get(name) == object } catch  where error.code == .tooLarge { isThere = false }
    if isThere { return }
    guard try put(key(of: name), object, if: [.init(key: mark, isThere: true)], else: []).isDone else { throw missing }
  }

  /// - Throws: As `append`.
  package func get(_ name: ObjectName) throws(FileError) -> [UInt8]? {
    let key = key(of: name)
    guard let pair = try range(EtcdRequest.range(key)).pairs.first, pair.key.elementsEqual(key) else { return nil }
    guard pair.value.count <= ObjectSealer.maximumByteCount else { throw FileError(.tooLarge, "an object of the engine") }
    return Array(pair.value)
  }

  /// - Throws: As `append`.
  package func names(after last: ObjectName?) throws(FileError) -> [ObjectName] {
    let start = prefix + Array("obj/".utf8)
    var first = last.map { key(of: $0) + [0] } ?? start
    // Keys of another form may fill a page.
    for _ in 0..<Self.maximumPages {
      let page = try range(
        EtcdRequest.range(first, to: start.dropLast() + [0x30], limit: ObjectName.pageCount, isOfKeysOnly: true))
      let names = page.pairs.compactMap { pair in
        pair.key.starts(with: start)
          ? ObjectName(hexadecimal: String(decoding: pair.key.dropFirst(start.count), as: UTF8.self)) : nil
      }
      guard names.isEmpty, page.hasMore, let end = page.pairs.last?.key else { return names }
      first = Array(end) + [0]
    }
    throw EtcdConnection.malformed
  }

  // MARK: Deleting

  /// - Throws: As `append`.
  package func delete(_ names: [ObjectName]) throws(FileError) {
    for name in names { try connection.call("KV/DeleteRange", EtcdRequest.deletion(key(of: name), to: key(of: name) + [0])) }
  }

  /// - Throws: As `append`.
  package func deleteEntries(_ ranges: [Range<UInt64>]) throws(FileError) {
    for range in ranges {
      try connection.call("KV/DeleteRange", EtcdRequest.deletion(key(of: range.lowerBound), to: key(of: range.upperBound)))
    }
  }
}

extension EtcdEngine: WaitingEngine {
  /// The watch is a hint: a member that stands still tells nothing, and no error. So the log is read besides, and each second without
  /// a watch.
  package func beginWaiting(for number: UInt64) -> LogSign {
    if watch == nil { watch = connection.watch(log, to: log.dropLast() + [0x30]) }
    return LogSign(descriptor: watch?.descriptor, milliseconds: watch?.isLive == true ? 60_000 : 1_000)
  }

  package func clearSign() { watch?.clear() }
}
