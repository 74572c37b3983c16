package import SecretMemory

/// The rows that come and go with a write, so that the item's earlier values stay.
struct Past {
  var former: [FormerVersion] = []
  /// The number that the value keeps, if the write does not make a new one.
  var number: UInt64?
  var rows: [Identifier: SealedRecord?] = [:]

  var marks: HistoryMarks { HistoryMarks(former: former, number: number) }
}

/// The group, class and epoch under which the rows of an item are sealed.
package struct Place {
  package let group: GroupKeys
  package let accessibility: Accessibility
  package let epoch: UInt32

  package func seal(
    _ id: Identifier, _ kind: RecordKind, _ attributes: [UInt8], _ secret: borrowing Secret, _ generation: UInt64,
    _ keys: VaultKeys
  ) throws -> SealedRecord {
    let meta = RecordMeta(kind: kind, accessibility: accessibility, epoch: epoch, version: generation)
    return try RecordSeal(vault: keys.vault, id: id, group: group.groupID, meta: meta)
      .seal(attributes: attributes, secret: secret, with: try group.key(accessibility, epoch: epoch, keys: keys))
  }
}

/// An item's attributes and secret, out of its row or that of a former version.
package struct Content: ~Copyable {
  package let item: Item
  package let secret: Secret
}

extension Transaction {
  private struct Source {
    let version: FormerVersion
    let row: Identifier
    let group: GroupKeys
    /// Whether the row is right as it is.
    let stays: Bool
  }

  /// The versions of an item that is about to be written: those of the item in its place, and of one that was removed there.
  mutating func past(
    of item: Item, _ secret: borrowing Secret, _ id: Identifier, _ place: Place, replacing old: Entry?, at now: Timestamp
  ) throws -> Past {
    var past = Past()
    var sources: [Source] = []
    func add(_ versions: [FormerVersion], _ group: GroupKeys, _ accessibility: Accessibility) {
      let stays = group === place.group && accessibility == place.accessibility
      sources += versions.map { Source(version: $0, row: group.historyID($0.origin, $0.number), group: group, stays: stays) }
    }
    if let old {
      let group = old.reference.group == place.group.group ? place.group : try self.group(old.reference.group)
      add(old.former, group, old.accessibility)
      if let before = try content(old.reference.id, in: group) {
        if before.item.hasValue(of: item), before.secret.isEqual(to: secret) {
          past.number = old.version
        } else if old.generation < generation {
          // A clock that was set back does not change the order.
          let version = FormerVersion(
            origin: old.reference.id, number: old.version, replaced: max(now, old.former.first?.replaced ?? now))
          sources.append(Source(version: version, row: old.reference.id, group: group, stays: false))
        }
      }
    }
    if old?.reference.id != id, let head = try soundHead(of: id, in: place.group) {
      add(head.former, place.group, head.meta.accessibility)
      sources.append(Source(version: head.version, row: place.group.historyID(id, .max), group: place.group, stays: false))
    }
    sources.sort { FormerVersion.isNewer($0.version, $1.version) }
    let kept = Set(try state.limits { _ in }.kept(sources.map(\.version), at: now))
    for source in sources {
      if !source.stays || !kept.contains(source.version), source.row != old?.reference.id { past.rows[source.row] = .some(nil) }
      guard kept.contains(source.version) else { continue }
      if !source.stays {
        guard let content = try content(source.row, in: source.group) else { continue }
        let row = place.group.historyID(source.version.origin, source.version.number)
        let attributes = content.item.encoded(HistoryMarks(source.version, former: nil))
        guard attributes.count <= Padding.maximumCount else { continue }
        past.rows[row] = try place.seal(row, .history, attributes, content.secret, generation, keys)
      }
      past.former.append(source.version)
    }
    while item.encoded(past.marks).count > Padding.maximumCount, let oldest = past.former.popLast() {
      past.rows[place.group.historyID(oldest.origin, oldest.number)] = .some(nil)
    }
    return past
  }

  mutating func write(_ past: Past) throws {
    for (id, row) in past.rows { try edit(id, row) }
  }

  package func place(_ accessible: Accessibility, in group: GroupKeys) throws -> Place {
    guard let epoch = try group.currentEpoch(accessible, keys: keys) else { throw VaultError(.unknownGroup) }
    return Place(group: group, accessibility: accessible, epoch: epoch)
  }

  /// A row with the edits so far. nil is a proven absence.
  private mutating func row(_ id: Identifier) throws -> SealedRecord? {
    guard let leaf = try tree.leaf(id) else { return nil }
    if let written = change.records[id].flatMap(\.self) { return written }
    let record = try state.record(id, expecting: leaf)
    return SealedRecord(record, secret: try state.secret(of: record))
  }

  /// nil if the row is damaged or does not open here: nothing of it can be kept.
  package mutating func content(_ id: Identifier, in group: GroupKeys) throws -> Content? {
    do {
      guard let row = try row(id) else { return nil }
      let meta = try RecordMeta(parsing: row.head, header: state.header, upTo: generation)
      var item = try state.decodedItem(row.head, meta: meta, group: group)
      _ = try HistoryMarks(takenFrom: &item, isItem: meta.kind == .item)
      return Content(item: item, secret: try state.openSecret(row.secret, of: row.head, meta: meta, group: group))
    } catch let error as VaultError {
      guard error.code.concernsOneRecord || error.code.meansSealedElsewhere else { throw error }
      return nil
    }
  }

  package mutating func head(of id: Identifier, in group: GroupKeys) throws -> FormerItem? {
    try former(group.historyID(id, .max), in: group)
  }

  /// A damaged head does not stop a write: its row stays, and so do its former versions, until a repair.
  private mutating func soundHead(of id: Identifier, in group: GroupKeys) throws -> FormerItem? {
    do { return try head(of: id, in: group) } catch let error as VaultError {
      guard error.code.concernsOneRecord else { throw error }
      return nil
    }
  }

  /// The row of a former version, or a head. nil is a proven absence.
  package mutating func former(_ row: Identifier, in group: GroupKeys) throws -> FormerItem? {
    try self.row(row).map { try state.openFormer($0.head, in: group, upTo: generation) }
  }

  // MARK: Removal

  /// - Parameter now: nil: the item goes with its former versions.
  /// - Returns: Whether the item can be restored.
  mutating func remove(_ reference: Reference, keepingFrom now: Timestamp?) throws -> Bool {
    let group = try group(reference.group)
    guard let content = try content(reference.id, in: group) else {
      try edit(reference.id, nil)
      return false
    }
    let entry = try entry(reference)
    let newest = entry.former.first?.replaced ?? Timestamp(secondsSince1970: 0)
    let version = FormerVersion(origin: reference.id, number: entry.version, replaced: max(now ?? newest, newest))
    let kept = try now.map { try state.limits { _ in }.kept([version] + entry.former, at: $0) } ?? []
    try edit(reference.id, nil)
    for version in entry.former where !kept.contains(version) { try edit(group.historyID(version.origin, version.number), nil) }
    guard !kept.isEmpty else { return false }
    return try writeHead(content, version, kept.filter { $0 != version }, place(entry.accessibility, in: group))
  }

  /// - Returns: False if it has more attributes than a row holds: then nothing is kept.
  package mutating func writeHead(
    _ content: borrowing Content, _ version: FormerVersion, _ former: [FormerVersion], _ place: Place
  ) throws -> Bool {
    var marks = HistoryMarks(version, former: former)
    let (item, most) = (content.item, FormerVersion.maximumCount)
    while marks.former.count > most || item.encoded(marks).count > Padding.maximumCount, let oldest = marks.former.popLast() {
      try edit(place.group.historyID(oldest.origin, oldest.number), nil)
    }
    let attributes = item.encoded(marks)
    guard attributes.count <= Padding.maximumCount else { return false }
    let id = place.group.historyID(version.origin, .max)
    try edit(id, try place.seal(id, .history, attributes, content.secret, generation, keys))
    return true
  }
}
