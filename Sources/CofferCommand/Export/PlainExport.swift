import Coffer
import CofferConsole
import CofferFiles
import CofferLifecycle
import ForeignFormats
import ProgramSecrets
import SecretMemory
import VaultCore

/// `coffer secret export --format`: items in plain text, for another program. Each record is read back as `coffer import` reads it before it
/// is written, and each difference is reported.
struct PlainExport {
  private struct Row {
    let entry: Entry
    let losses: [ExportLoss]
    let isWritten: Bool
  }

  private let format: PlainFormat
  /// nil: standard output.
  private let path: String?

  /// - Throws: usage; duplicate, if there is such a file; I/O.
  init(_ format: PlainFormat, to path: String) throws {
    self.format = format
    self.path = path == "-" ? nil : path
    guard let path = self.path else {
      guard !Descriptor.output.isTerminal else {
        throw Failure.usage("--to -: a terminal would show all secrets", hint: "--to FILE, or a pipe to the other program")
      }
      return
    }
    guard try Files<FileError>.status(at: path) == nil else { throw Self.exists(path) }
    let directory = Path.parent(of: path)
    guard try Files<FileError>.status(at: directory, followingLinks: true)?.kind == .directory else {
      throw LifecycleError(.directoryMissing, directory)
    }
    try TemporaryName.removeLeftovers(for: path)
  }

  private static func exists(_ path: String) -> Failure {
    Failure(.duplicate, "\(path): there is such a file already", hint: "nothing is replaced: name another file")
  }

  func run(_ entries: [Entry], _ leftOut: LeftOut, in items: OpenItems, asJSON isJSON: Bool) throws {
    let plain = PlainItems(entries, in: items)
    try checkIsOneService(plain.chosen)
    let writer = format.writer(for: plain.chosen.map(\.outline))
    let rows: [Row]
    let work = try LongWork("copying")
    if let path {
      let new = try NewFile<FileError>(at: TemporaryName.next(for: path), named: path)
      rows = try write(plain, writer, work) { bytes in try new.file.write(bytes) }
      try new.file.synchronize()
      guard try new.appear(at: path) else { throw Self.exists(path) }
      try Files<FileError>.synchronizeDirectory(Path.parent(of: path))
    } else {
      rows = try write(plain, writer, work) { bytes in try Descriptor.output.write(bytes) }
    }
    work.end()
    items.finish()
    try report(rows, leftOut, asJSON: isJSON)
  }

  /// A file of variables names no service: that of another one would be lost.
  private func checkIsOneService(_ chosen: [PlainItems.Chosen]) throws {
    guard format == .dotenv, let first = chosen.first?.outline else { return }
    guard chosen.allSatisfy({ $0.outline.group == first.group && $0.outline.service.utf8.elementsEqual(first.service.utf8) })
    else {
      throw Failure.usage(
        "dotenv: a file of variables is for the items of one service", hint: "name it: coffer secret export SERVICE")
    }
  }

  private func write(
    _ plain: PlainItems, _ writer: any ExportFormat, _ work: LongWork, _ output: (RawSpan) throws -> Void
  ) throws -> [Row] {
    var rows: [Row] = []
    var names: Set<[UInt8]> = []
    var byteCount = 0
    func put(_ piece: HeldSecret) throws {
      byteCount += piece.count
      guard byteCount <= SourceText.maximumByteCount else {
        throw Failure.usage("more than 64 MiB, which no import reads", hint: "one group or service after the other")
      }
      try piece.secret.withBytes { try output($0) }
    }
    for (index, one) in plain.chosen.enumerated() {
      try work.step(UInt64(index), of: UInt64(plain.chosen.count))
      let (item, known) = try plain.read(one, withVersions: writer.holdsVersions)
      var (record, losses) = try writer.written(item)
      losses += known
      if !names.insert(Self.name(one.outline)).inserted {
        losses.insert(ExportLoss("item", .sameName), at: 0)
        if !writer.holdsNamesTwice { record = nil }
      }
      if let record {
        let isFirst = !rows.contains(where: \.isWritten)
        try put(HeldSecret(text: isFirst ? writer.head : writer.separator))
        for piece in record { try put(piece) }
      }
      rows.append(Row(entry: one.entry, losses: losses, isWritten: record != nil))
    }
    guard rows.contains(where: \.isWritten) else {
      throw Failure(.notFound, "nothing to export: the format can hold no item", details: rows.flatMap(Self.lines))
    }
    try put(HeldSecret(text: writer.tail))
    return rows
  }

  private static func name(_ outline: ExportedItem.Outline) -> [UInt8] {
    [outline.group.name, outline.service, outline.account].flatMap { Array($0.utf8) + [0] }
  }

  // MARK: Report

  private static func lines(_ row: Row) -> [String] {
    row.losses.map { "\(row.entry.nameWithGroup): \($0.part): \($0.reason.words)" }
  }

  private func report(_ rows: [Row], _ leftOut: LeftOut, asJSON isJSON: Bool) throws {
    let written = rows.filter(\.isWritten)
    let place = path ?? "standard output"
    Descriptor.error.note(
      "note: \(place.escapingControls()): plain text: each reader of it has the secrets\n"
        + (path.map { "hint: remove it when it has been read: shred -u \(ShellWord.quoted($0).escapingControls())\n" } ?? ""))
    if isJSON {
      func members(_ entry: Entry) -> [(String, JSON)] {
        [("name", .text(entry.name)), ("group", .text(entry.reference.group.name))]
      }
      let lost = rows.flatMap { row in
        row.losses.map { loss in
          JSON.object(members(row.entry) + [("part", .text(loss.part)), ("reason", .text(loss.reason.rawValue))])
        }
      }
      let all: [(String, JSON)] = [
        ("path", .text(place)), ("items", .array(written.map { .object(members($0.entry)) })), ("lost", .array(lost)),
      ]
      return try Descriptor.output.write(JSON.object(all + leftOut.members).description + "\n")
    }
    if path != nil { try Descriptor.output.write("\(place.escapingControls()): \(counted(written.count, "item"))\n") }
    for line in rows.flatMap(Self.lines) { Descriptor.error.note("note: \(line.escapingControls())\n") }
    leftOut.note()
  }
}
