import CofferSync

/// Which settings a device shares in a space.
package struct SettingsShare: Equatable, Sendable {
  /// Whether the space is that of one person: no other one carries settings.
  package internal(set) var isPersonal = false
  /// Stores of programs that are not installed as apps, which a person has allowed.
  package internal(set) var allowed: Set<String> = []
  /// Stores of this machine that have met the log of this space.
  package internal(set) var met: Set<String> = []

  init() {}

  init(reading reader: inout BodyReader) throws {
    func stores() throws -> Set<String> {
      let count: UInt32 = try reader.readInteger()
      return Set(try (0..<count).map { _ in try reader.readName(atMost: SettingName.maximumStoreByteCount) })
    }
    isPersonal = try reader.readByte(in: 0...1) == 1
    (allowed, met) = (try stores(), try stores())
  }

  func write(to writer: inout BodyWriter) {
    writer.append(UInt8(isPersonal ? 1 : 0))
    for stores in [allowed, met] {
      writer.append(UInt32(stores.count))
      for store in stores.sorted() { writer.append(text: store) }
    }
  }
}
