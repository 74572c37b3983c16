import CofferPropertyLists

@testable import CofferPreferences

extension FuzzTarget {
  /// Files that any program of the user can write.
  static let preferences: [FuzzTarget] = [
    FuzzTarget("property-list") { try propertyList($0) },
    // With the magic, so that the fuzzer need not find it.
    FuzzTarget("property-list-binary") { try propertyList(Array("bplist00".utf8) + $0) },
    FuzzTarget("property-list-xml") { try propertyList(Array("<plist version=\"1.0\">".utf8) + $0 + Array("</plist>".utf8)) },
    FuzzTarget("journal-value") { bytes in
      let value = unsafe bytes.withUnsafeBytes { all -> PropertyListValue? in
        var reader = unsafe ByteReader(all, 0..<all.count)
        guard let value = ValueCoding.read(&reader), reader.isAtEnd else { return nil }
        return value
      }
      guard let value else { return }
      var again: [UInt8] = []
      ValueCoding.append(value, to: &again)
      try promise(again.count == ValueCoding.byteCount(value), "the size is what is written")
      let same = unsafe again.withUnsafeBytes { all -> PropertyListValue? in
        var reader = unsafe ByteReader(all, 0..<all.count)
        return ValueCoding.read(&reader)
      }
      try promise(same == value, "a value is read as it was written")
    },
    FuzzTarget("journal-header") { bytes in
      let header = try JournalHeader(bytes, "journal")
      try promise(header.bytes == Array(bytes.prefix(JournalHeader.byteCount)), "one form of each header")
    },
    FuzzTarget("journal") { bytes in
      // Arbitrary bytes between valid records: the valid records are found, and no others.
      var journal: [UInt8] = []
      let first = JournalRecord(sequence: 1, entries: [.set(.init("first"), .integer(1))])
      let last = JournalRecord(sequence: 1 << 20, entries: [.set(.init("last"), .integer(2))])
      first.append(to: &journal, salt: 7)
      journal += bytes
      last.append(to: &journal, salt: 7)
      let image = read(journal)
      try promise(image.values["first"] == .integer(1), "a record before damage is read")
      // A record of the fuzzer with a higher number may hide the records after it.
      try promise(image.values["last"] == .integer(2) || image.sequence > 1 << 20, "a record behind damage is found")
    },
    FuzzTarget("journal-record") { bytes in
      // A record with a valid checksum, as written by a newer version or an attacker.
      var journal: [UInt8] = []
      journal.append(number: UInt32(bytes.count + 8))
      var body: [UInt8] = []
      body.append(number: UInt64(1))
      body += bytes
      journal.append(number: unsafe body.withUnsafeBytes { unsafe JournalRecord.checksum($0, salt: 7) })
      journal += body
      let image = read(journal)
      try promise(image.position == journal.count, "a record with a right checksum is passed over")
      try promise(image.byteCount == JournalImage.byteCount(of: image.values), "the sizes add up")
    },
  ]

  private static func read(_ journal: [UInt8]) -> JournalImage {
    var image = JournalImage()
    var changes = ChangeCollector(isWanted: true)
    image.read(journal, salt: 7, &changes)
    return image
  }

  private static func propertyList(_ bytes: [UInt8]) throws {
    let value = try PropertyList.read(bytes).value
    let again = try PropertyList.writeExactly(value)
    do {
      try promise(PropertyList.read(again).value == value, "a property list is read as it was written")
      let binary = try PropertyList.read(PropertyList.write(value, .binary))
      try promise(binary.value == value && binary.format == .binary, "and in the binary form too")
    } catch let error as PropertyListError {
      throw Broken(promise: "what was written is read: \(error)")
    }
  }
}
