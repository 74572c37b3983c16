import CofferAudit
import Foundation
import Testing

/// A log for one test, which may damage its files; removed after the test.
final class Bench: Sendable {
  let state: String
  static let caller = AuditEntry.Caller(user: 1000, process: 7, executable: "/usr/bin/coffer")

  init() { state = FileManager.default.temporaryDirectory.appending(path: "coffer-audit-\(UUID().uuidString)").path }

  deinit { try? FileManager.default.removeItem(atPath: state) }

  static func entry(_ application: String, group: String = "", because reason: String = "owner") -> AuditEntry {
    AuditEntry(at: 1, .allowed, "app.install", by: caller, application: application, group: group, because: reason)
  }

  /// Writes each entry by its own log, as separate commands do.
  func log(_ names: [String]) throws {
    for name in names { try AuditLog(in: state).append(Self.entry(name), isSynced: false) }
  }

  func entries() throws -> [LoggedEntry] {
    var entries: [LoggedEntry] = []
    try AuditReading(of: state)?.forEachEntry { entries.append($0) }
    return entries
  }

  func names() throws -> [String] { try entries().map(\.entry.application) }

  func verify(continuing kept: AuditChain? = nil) throws -> AuditVerification {
    try AuditVerification(#require(try AuditReading(of: state)), continuing: kept)
  }

  func problems() throws -> [AuditVerification.Problem] { try verify().problems }

  // MARK: Files

  func path(_ name: String) -> String { "\(state)/audit/\(AuditRing.decisions.rawValue)/\(name)" }

  func segments() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path("")).filter { $0.hasSuffix(".log") }.sorted()
  }

  func bytes(_ name: String) throws -> [UInt8] { try Array(Data(contentsOf: URL(filePath: path(name)))) }

  func write(_ bytes: [UInt8], _ name: String) throws { try Data(bytes).write(to: URL(filePath: path(name))) }

  /// The lines of the only file.
  func lines() throws -> [String] {
    String(decoding: try bytes(try #require(segments().first)), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  func write(lines: [String]) throws { try write(Array(lines.map { $0 + "\n" }.joined().utf8), try #require(segments().first)) }
}
