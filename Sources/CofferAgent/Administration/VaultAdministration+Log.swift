import AppContainers
import CofferAudit
import CofferFiles
import CofferRequests
import CofferStorage
import CofferWire
import SecretMemory
import VaultCore

/// The agent's audit log, for a user who cannot read its files.
extension VaultAdministration {
  func log(_ request: AppRequest) throws -> [Attributes] {
    guard case .logPart(let ring, let first, let offset) = request else { return try outline() }
    return try logPart(ring, first, offset)
  }

  /// A row for each ring, with its head, and one for each of its files.
  private func outline() throws -> [Attributes] {
    try AuditRing.allCases.flatMap { ring -> [Attributes] in
      guard let reading = try reading(ring) else { return [] }
      var head = Attributes()
      head["ring"] = .text(ring.rawValue)
      head["head"] = .data(reading.headBytes)
      return [head]
        + reading.parts.map { part in
          var row = Attributes()
          row["ring"] = .text(ring.rawValue)
          row["first"] = .integer(part.first)
          row["size"] = .integer(UInt64(part.byteCount))
          return row
        }
    }
  }

  /// `WireLimits.logByteCount` bytes, or what there is.
  /// - Throws: `notFound` if the file has gone: the log has dropped its oldest entries.
  private func logPart(_ ring: String, _ first: UInt64, _ offset: UInt64) throws -> [Attributes] {
    guard let ring = AuditRing(rawValue: ring), let part = try reading(ring)?.parts.first(where: { $0.first == first }),
      let start = Int(exactly: offset), start <= part.byteCount
    else { throw KeychainError(.notFound, "a file of the audit log") }
    let end = min(part.byteCount, start + WireLimits.logByteCount)
    return try stride(from: start, to: end, by: WireLimits.logRowByteCount).map { start in
      var row = Attributes()
      row["bytes"] = .data(try part.contents(start..<min(end, start + WireLimits.logRowByteCount)))
      return row
    }
  }

  private func reading(_ ring: AuditRing) throws -> AuditReading? {
    do throws(FileError) { return try AuditReading(of: places.state, ring) } catch {
      throw KeychainError(.storage, cause: .containers(error.code.name), error.detail)
    }
  }
}
