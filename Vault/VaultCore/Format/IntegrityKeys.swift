package import SecretMemory

/// The keys that prove that rows were written with the master key. They open no secret. Section 6 of FORMAT.md.
package final class IntegrityKeys {
  private let header: Key
  private let tree: Key
  package let vault: Identifier

  package init(master: borrowing Key, vault: Identifier, tree label: Label = .tree) throws(VaultError) {
    let header = try master.derive(.vault(.header, vault))
    let tree = try master.derive(.vault(label, vault))
    self.vault = vault
    self.header = header
    self.tree = tree
  }

  /// Over the header's first 224 bytes.
  func headerMAC(_ bytes: [UInt8]) -> Digest {
    var context = Context(.headerMAC, reserving: bytes.count)
    context.append(bytes)
    return header.digest(context)
  }

  /// Over the slots and the history ring.
  func slotsDigest(_ rows: SlotRows) -> Digest {
    var context = Context(.slots, reserving: 4096)
    context.append(vault)
    for (key, bytes) in rows.all {
      context.append(UInt32(key))
      context.appendCounted(bytes)
    }
    return header.digest(context)
  }

  /// Over an anchor's first 64 bytes.
  func anchorMAC(_ bytes: [UInt8]) -> Digest {
    var context = Context(.anchor)
    context.append(bytes)
    return header.digest(context)
  }

  package func leaf(_ record: RecordHead) -> Digest {
    var context = Context(.leaf, reserving: 128 + record.attributes.count)
    context.append(vault)
    context.append(record.id)
    context.append(record.group)
    context.append(record.meta)
    context.appendCounted(record.attributes)
    context.append(UInt32(clamping: record.secretCount))
    context.append(record.secretDigest)
    return tree.digest(context)
  }

  func node(_ node: Node, depth: Int) -> Digest {
    var context = Context(.node, reserving: 32 + node.body.count)
    context.append(vault)
    context.append(UInt8(depth))
    context.append(UInt8(node.prefix.count))
    context.append(node.prefix)
    context.append(node.body)
    return tree.digest(context)
  }
}

extension Context {
  /// A label whose context is the vault's identifier alone.
  package static func vault(_ label: Label, _ vault: Identifier) -> Context {
    var context = Context(label)
    context.append(vault)
    return context
  }
}
