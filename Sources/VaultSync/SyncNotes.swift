package import CofferSync
import VaultCore

/// The notes of a device about its passes. Times are in milliseconds since 1970, by the clock of this machine.
package struct SyncNotes: Equatable, Sendable {
  /// Why the last pass has failed.
  package struct Failure: Equatable, Sendable {
    static let maximumByteCount = 1024

    package let text: String
    package let time: Int64
    /// Whether the engine had no space left.
    package let isOfSpace: Bool

    package init(_ text: String, at time: Int64, isOfSpace: Bool) {
      // The cut may be within a character.
      let cut = String(decoding: text.utf8.prefix(Self.maximumByteCount), as: UTF8.self)
      let shown = String(String.UnicodeScalarView(cut.unicodeScalars.filter { $0.properties.generalCategory != .control }))
      (self.text, self.time, self.isOfSpace) = (shown.isEmpty ? "?" : shown, time, isOfSpace)
    }
  }

  /// The last entry of a device, and when it was read here.
  struct Heard: Equatable, Sendable {
    /// The number of the next one; 0 for a device that has made none.
    let count: UInt64
    let time: Int64
  }

  /// A device appends within 7 days if it runs; one day is for its timer.
  private static let silence: Int64 = 8 * 86_400_000

  /// The last pass without an error; nil for none.
  package internal(set) var lastPass: Int64?
  package internal(set) var failure: Failure?
  private(set) var heard: [Identifier: Heard] = [:]

  /// A pass without a change need not write the files: in milliseconds.
  private static let precision: Int64 = 60_000

  init() {}

  /// Whether files with the other notes are good enough.
  func agrees(with other: SyncNotes) -> Bool {
    func agree(_ one: Int64?, _ other: Int64?) -> Bool {
      guard let one, let other else { return one == other }
      return one.distance(to: other).magnitude < Self.precision
    }
    return failure?.text == other.failure?.text && agree(failure?.time, other.failure?.time) && agree(lastPass, other.lastPass)
  }

  /// Notes the end of a pass.
  /// - Parameter failure: nil if it has read all of the log.
  mutating func note(_ failure: (text: String, isOfSpace: Bool)?, _ replica: Replica, at now: Int64) {
    guard let failure else { return passed(replica, at: now) }
    self.failure = Failure(failure.text, at: now, isOfSpace: failure.isOfSpace)
  }

  private mutating func passed(_ replica: Replica, at now: Int64) {
    (lastPass, failure) = (now, nil)
    var next: [Identifier: Heard] = [:]
    for id in replica.membership.devices.keys {
      let count = replica.lastEntries[id].map { $0.number + 1 } ?? 0
      // A clock that was set back would make all devices fresh.
      if let former = heard[id], former.count == count, former.time <= now {
        next[id] = former
      } else {
        next[id] = Heard(count: count, time: now)
      }
    }
    heard = next
  }

  /// The devices of which nothing has come for more than a week, although this one has read the log: they do not run, or the engine
  /// withholds what they write. A recovery key is silent until it is used.
  package func silentDevices(of replica: Replica) -> [DeviceRecord] {
    guard let lastPass else { return [] }
    return replica.membership.devices.values
      .filter { $0.id != replica.id && !$0.isRecovery && lastPass - (heard[$0.id]?.time ?? lastPass) > Self.silence }
      .sorted { ($0.person, $0.name, $0.id) < ($1.person, $1.name, $1.id) }
  }

  // MARK: Bytes

  func write(to writer: inout BodyWriter) {
    writer.append(lastPass ?? -1)
    writer.append(UInt8(failure == nil ? 0 : 1))
    if let failure {
      writer.append(text: failure.text)
      writer.append(failure.time)
      writer.append(UInt8(failure.isOfSpace ? 1 : 0))
    }
    writer.append(UInt32(heard.count))
    for (id, heard) in heard.sorted(by: { $0.key < $1.key }) {
      writer.append(id)
      writer.append(heard.count)
      writer.append(heard.time)
    }
  }

  init(reading reader: inout BodyReader) throws {
    let time: Int64 = try reader.readInteger()
    lastPass = time < 0 ? nil : time
    if try reader.readByte(in: 0...1) == 1 {
      let text = try reader.readName(atMost: 3 * Failure.maximumByteCount)
      failure = Failure(text, at: try reader.readInteger(), isOfSpace: try reader.readByte(in: 0...1) == 1)
    }
    let count: UInt32 = try reader.readInteger()
    for _ in 0..<count {
      let id = try reader.readIdentifier()
      heard[id] = Heard(count: try reader.readInteger(), time: try reader.readInteger())
    }
  }
}
