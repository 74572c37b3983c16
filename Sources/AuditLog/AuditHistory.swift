package import AppContainers

/// All rings of the log as they were at one moment.
package struct AuditHistory {
  private let readings: [(ring: AuditRing, reading: AuditReading?)]

  /// One that lies elsewhere.
  package init(_ readings: [(ring: AuditRing, reading: AuditReading?)]) { self.readings = readings }

  /// Returns nil if there is no log.
  /// - Throws: as `AuditReading`.
  package init?(of state: String) throws(ContainerError) {
    guard try AuditDirectory.exists(in: state) else { return nil }
    var readings: [(AuditRing, AuditReading?)] = []
    for ring in AuditRing.allCases { readings.append((ring, try AuditReading(of: state, ring))) }
    self.readings = readings
  }

  /// Every entry, the oldest first by the clock of the machine; those of one ring in the order in which they were written.
  package func forEachEntry(_ body: (AuditRing, LoggedEntry) throws -> Void) throws {
    try Self.forEachEntry(of: [self]) { try body($1, $2) }
  }

  /// The same, of several logs together.
  /// - Parameter body: Is told which one.
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

  /// - Parameter kept: The ends at an earlier time, which were kept elsewhere.
  package func verify(continuing kept: AuditEnds? = nil) throws -> [(ring: AuditRing, verification: AuditVerification)] {
    try readings.map { ring, reading in
      guard let reading else { return (ring, .missing) }
      return (ring, try AuditVerification(reading, continuing: kept?.chains[ring]))
    }
  }
}

/// The ends of all rings, to be kept elsewhere.
package struct AuditEnds: Equatable, Sendable {
  package let chains: [AuditRing: AuditChain]

  package init(_ chains: [AuditRing: AuditChain]) { self.chains = chains }

  private static let none = "-"

  /// In the order of the rings, with commas in between; `-` for a ring without entries.
  package var text: String {
    AuditRing.allCases.map { chains[$0]?.text ?? Self.none }.joined(separator: ",")
  }

  /// Returns nil if the text is not one that `text` gives.
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
