package import CofferRequests
internal import VaultCore

/// The fields `for`, a process or 0, and `for-start`, which a request about items may have beside its own.
extension Message {
  private static let process = "for"
  private static let start = "for-start"

  mutating func set(_ client: BusClient) {
    switch client {
    case .unknown: fields[Self.process] = .integer(0)
    case .process(let process, let start):
      fields[Self.process] = .integer(UInt64(UInt32(bitPattern: process)))
      fields[Self.start] = .integer(start)
    }
  }

  /// Takes the fields out. Returns nil if there are none.
  /// - Throws: `field`.
  package mutating func takeClient() throws(WireError) -> BusClient? {
    var taken = Fields(fields)
    let (process, start) = (try taken.integer(Self.process), try taken.integer(Self.start))
    (fields[Self.process], fields[Self.start]) = (nil, nil)
    switch (process, start) {
    case (nil, nil): return nil
    case (0?, nil): return .unknown
    case (let process?, let start?):
      guard process > 0, let number = Int32(exactly: process) else { throw WireError(.field, Self.process) }
      return .process(number, start: start)
    case (nil, _?), (_?, nil): throw WireError(.field, Self.start)
    }
  }
}
