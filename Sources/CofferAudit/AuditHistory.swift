internal import AppContainers
package import CofferFiles

/// All rings of the log at one moment.
package struct AuditHistory {
  private let readings: [(ring: AuditRing, reading: AuditReading?)]

  /// A history from another source than a directory.
  package init(_ readings: [(ring: AuditRing, reading: AuditReading?)]) { self.readings = readings }

  /// Returns nil if there is no log.
  /// - Throws: As `AuditReading`.
  package init?(of state: String) throws(FileError) {
    guard try AuditDirectory.exists(in: state) else { return nil }
    var readings: [(AuditRing, AuditReading?)] = []
    for ring in AuditRing.allCases { readings.append((ring, try AuditReading(of: state, ring))) }
    self.readings = readings
  }

  /// Every entry, the oldest first by the machine's clock; entries of one ring in the order in which they were written.
  package func forEachEntry(_ body: (AuditRing, LoggedEntry) throws -> Void) throws {
    try Self.forEachEntry(of: [self]) { try body($1, $2) }
  }

  /// The same for several logs together.
  /// - Parameter body: Called with the index of the log.
  package static func forEachEntry(
    of histories: [AuditHistory], _ body: (_ history: Int, AuditRing, LoggedEntry) throws -> Void
  ) throws {
    var sources: [(history: Int, ring: AuditRing, lines: AuditLines, next: LoggedEntry)] = []
    for (index, history) in histories.enumerated() {
      for (ring, reading) in history.readings {
        guard var lines = reading?.lines(), let first = try lines.nextEntry() else { continue }
        sources.append((index, ring, lines, first))
      }
    }
    while let oldest = sources.indices.min(by: { sources[$0].next.entry.milliseconds < sources[$1].next.entry.milliseconds }) {
      try body(sources[oldest].history, sources[oldest].ring, sources[oldest].next)
      if let next = try sources[oldest].lines.nextEntry() { sources[oldest].next = next } else { sources.remove(at: oldest) }
    }
  }

  /// - Parameter kept: Earlier ends of the rings, which were stored outside of the log.
  package func verify(continuing kept: AuditEnds? = nil) throws -> [(ring: AuditRing, verification: AuditVerification)] {
    try readings.map { ring, reading in
      guard let reading else { return (ring, .missing) }
      return (ring, try AuditVerification(reading, continuing: kept?.chains[ring]))
    }
  }
}

/// The ends of all rings, to be stored outside of the log.
package struct AuditEnds: Equatable, Sendable {
  package let chains: [AuditRing: AuditChain]

  package init(_ chains: [AuditRing: AuditChain]) { self.chains = chains }

  private static let none = "-"

  /// In the order of the rings, separated by commas; `-` for a ring without entries.
  package var text: String {
    AuditRing.allCases.map { chains[$0]?.text ?? Self.none }.joined(separator: ",")
  }

  /// Returns nil if the text is not in the format of `text`.
  package init?(_ text: String) {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == AuditRing.allCases.count else { return nil }
    var chains: [AuditRing: AuditChain] = [:]
    for (ring, part) in zip(AuditRing.allCases, parts) where part != Self.none {
      guard let chain = AuditChain(part) else { return nil }
      chains[ring] = chain
    }
    self.chains = chains
  }
}
