package import SecretMemory
public import VaultCore

/// Versions of items: back to one of them, and removal for good.
extension Transaction {
  /// Removes former versions for good, and a removed item with its last one.
  /// - Returns: How many were removed.
  /// - Throws: `notFound`, `groupNotFound`, `locked`; `historyMissing` if none of the versions that are to stay of a removed item opens;
  ///   other integrity errors. Nothing is changed then.
  public mutating func purge(_ reference: Reference, where isPurged: (FormerVersion) -> Bool) throws -> Int {
    let group = try group(reference.group)
    let isPresent = try tree.leaf(reference.id) != nil
    guard let head = try isPresent ? nil : head(of: reference.id, in: group) else {
      let entry = try entry(reference)
      let gone = entry.former.filter(isPurged)
      guard !gone.isEmpty else { return 0 }
      let place = try place(entry.accessibility, in: group)
      let marks = HistoryMarks(former: entry.former.filter { !gone.contains($0) }, number: entry.version)
      let secret = try secret(of: reference)
      try edit(reference.id, try place.seal(reference.id, .item, entry.item.encoded(marks), secret, generation, keys))
      for version in gone { try edit(group.historyID(version.origin, version.number), nil) }
      return gone.count
    }
    let all = [head.version] + head.former
    let left = all.filter { !isPurged($0) }
    guard left != all else { return 0 }
    func row(_ version: FormerVersion) -> Identifier {
      group.historyID(version.origin, version == head.version ? .max : version.number)
    }
    // The first that opens stands for the removed item. One that is damaged stays among the former versions, for a repair.
    let candidates = left.first == head.version ? left.prefix(1) : left[...]
    let newest = try candidates.first { try content(row($0), in: group) != nil }
    if newest == nil, let damaged = left.first { throw VaultError(.historyMissing, "version \(damaged.number)") }
    let kept = try newest.flatMap { try content(row($0), in: group) }
    for version in all where version == newest || !left.contains(version) { try edit(row(version), nil) }
    if let newest, let kept {
      let version = FormerVersion(origin: reference.id, number: newest.number, replaced: head.version.replaced)
      _ = try writeHead(kept, version, left.filter { $0 != newest }, place(head.meta.accessibility, in: group))
    }
    return all.count - left.count
  }

  /// Makes a version the present one again; the present one becomes a former version. A removed item is there again.
  /// - Parameter number: nil: the newest former version; of a removed item the last one.
  /// - Throws: `notFound`, `versionNotFound`, `duplicate`, `groupNotFound`; `historyMissing` and other integrity errors.
  @discardableResult
  public mutating func restore(_ reference: Reference, version number: UInt64? = nil, at now: Timestamp) throws -> Reference {
    let group = try group(reference.group)
    let entry = try tree.leaf(reference.id) == nil ? nil : entry(reference)
    let head = try entry == nil ? head(of: reference.id, in: group) : nil
    let versions = entry?.former ?? head.map { [$0.version] + $0.former } ?? []
    guard let accessible = entry?.accessibility ?? head?.meta.accessibility, let name = entry?.item ?? head?.item else {
      throw VaultError(.notFound)
    }
    guard let version = versions.first(where: { number == nil || $0.number == number }) else {
      throw VaultError(.versionNotFound)
    }
    let id = group.historyID(version.origin, version == head?.version ? .max : version.number)
    guard let content = try content(id, in: group) else { throw VaultError(.historyMissing, "version \(version.number)") }
    var item = content.item
    for (attribute, _) in item.itemClass.primaryAttributes { item.attributes[attribute] = name.attributes[attribute] }
    item.modified = now
    return try insert(item, secret: content.secret, into: reference.group, accessible: accessible, replacing: entry, at: now)
  }

  /// The damage of the last version of a removed item that had this reference. An item made in its place did not take its versions over.
  /// - Throws: `groupNotFound`; faults of the tree.
  package mutating func damageOfHead(of reference: Reference) throws -> VaultError? {
    do {
      _ = try head(of: reference.id, in: group(reference.group))
      return nil
    } catch let error as VaultError {
      guard error.code.concernsOneRecord else { throw error }
      return error
    }
  }

  /// The present value and the former ones.
  /// - Throws: `notFound`, `groupNotFound`; integrity errors.
  package mutating func versionCount(of reference: Reference) throws -> Int { 1 + (try entry(reference)).former.count }
}
