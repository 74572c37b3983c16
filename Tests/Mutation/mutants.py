"""The checks of the verify, unlock and open paths, each with the way it is taken out.

Each entry: name, file under Vault/, how, the exact text that the check is.

    true    the condition always holds          false   the condition never holds
    drop    the statement is not run            (old, new)  new is run instead of old

A text that does not occur exactly once in its file is an error: then this list is out of date.
"""

HEADER = "VaultCore/Format/Header.swift"
STATE = "VaultCore/Vault/ProvenState.swift"
TREE = "VaultCore/Tree/ProvenTree.swift"
NODE = "VaultCore/Tree/Node.swift"
RING = "VaultCore/Slots/SlotRows.swift"
SLOT = "VaultCore/Slots/KeySlot.swift"
KDF = "VaultCore/Slots/KDFParameters.swift"
META = "VaultCore/Records/RecordMeta.swift"
ITEM = "VaultCore/Items/Item.swift"
GROUP = "VaultCore/Groups/GroupKeys.swift"
ANCHOR = "VaultCore/Vault/Anchor.swift"
VERIFY = "VaultCore/Vault/Verification.swift"
EDIT = "VaultCore/Vault/Transaction.swift"
KEY = "VaultCore/Slots/RecoveryKey.swift"
FILE = "VaultCore/Slots/Credential.swift"
REPAIR = "VaultUpkeep/RepairWalk.swift"
MENDING = "VaultUpkeep/Vault+Repair.swift"
RENEWAL = "VaultUpkeep/MasterKeyRenewal.swift"
REKEY = "VaultUpkeep/GroupRekey.swift"
BOXES = "VaultUpkeep/DeviceKey.swift"

MUTANTS = [
    # The header
    ("header length", HEADER, "true", "bytes.count == Header.byteCount"),
    ("header magic", HEADER, "true", "try reader.read(8) == ArraySlice(Header.magic)"),
    ("header major version", HEADER, "true", "major == Header.majorVersion"),
    ("header incompatible flags", HEADER, "true", "try reader.readInteger(UInt32.self) == 0"),
    ("header depth", HEADER, "true", "depth <= Header.maximumDepth"),
    ("header generation", HEADER, "true", "generation > 0"),
    ("header record count", HEADER, "true", "recordCount <= Header.maximumRecordCount"),
    ("header master epoch", HEADER, "true", "masterEpoch > 0"),
    ("header slot count", HEADER, "true", "(1...8).contains(slotCount)"),
    ("header reserved 8", HEADER, ("try reader.readZeros(8)", "_ = try reader.read(8)"), None),
    ("header reserved 48", HEADER, ("try reader.readZeros(48)", "_ = try reader.read(48)"), None),
    ("header MAC", HEADER, "true", "keys.headerMAC(Array(bytes.prefix(Header.byteCount - Digest.byteCount))) == mac"),
    ("header of another vault", STATE, "true", "sealedHeader.header.vault == keys.vault"),
    ("read-only flags", EDIT, "true", "state.header.readOnlyFlags & ~Header.historyFlag == 0"),
    # Slots and ring
    ("slots digest", RING, "true", "keys.slotsDigest(self) == header.slotsDigest"),
    ("slot count against rows", RING, "true", "slots.count == Int(header.slotCount)"),
    ("ring length", RING, "true", "history.count == expectedCount"),
    ("ring last entry", RING, "true", "history.last ?? .zero == header.previousMAC"),
    ("unknown header row", RING, "true", "(1...Int64(Header.historyKey)).contains(key)"),
    ("no slot at all", RING, "true", "!slots.isEmpty"),
    ("empty ring row", RING, "true", "guard !bytes.isEmpty"),
    ("ring of whole digests", RING, "true", "bytes.count % Digest.byteCount == 0"),
    ("ring of 64 at most", RING, "true", "bytes.count / Digest.byteCount <= Self.historyLength"),
    ("slot key derivation known", SLOT, "true", "rawKDF <= 1"),
    ("slot reserved 2", SLOT, ("try reader.readZeros(2)", "_ = try reader.read(2)"), None),
    ("slot reserved 4", SLOT, ("try reader.readZeros(4)", "_ = try reader.read(4)"), None),
    ("slot extension bound", SLOT, "true", "extensionCount <= Self.maximumExtensionCount"),
    ("slot length", SLOT, "true", "reader.remaining == Int(extensionCount)"),
    ("slot extension only of external ones", SLOT, "true", "type == .external || extensionCount == 0"),
    ("slot key derivation fits the type", SLOT, "true", "rawKDF == (type.hasPassphrase ? 1 : 0)"),
    ("slot lanes", SLOT, "true", "lanes == UInt32(rawKDF)"),
    ("slot parameters without passphrase", SLOT, "true", "type.hasPassphrase || (iterations == 0 && memoryKiB == 0)"),
    ("slot commitment", SLOT, "true", "input.digest(Self.context(.slotCommitment, vault, parameters)) == commitment"),
    ("KDF ceiling not asked", FILE, "drop", "if let parameters { try ceiling?.check(parameters) }"),
    ("KDF ceiling of passes", KDF, "true", "parameters.iterations <= iterations"),
    ("KDF ceiling of memory", KDF, "true", "parameters.memoryKiB <= memoryKiB"),
    ("KDF floor of passes", KDF, "true", "iterations >= Self.floor.iterations"),
    ("KDF floor of memory", KDF, "true", "memoryKiB >= Self.floor.memoryKiB"),
    ("key file length", FILE, "true", "(32...(1 << 20)).contains(file.count)"),
    ("recovery key checksum", KEY, "true", "checksum.isEqual(to: try self.checksum(bytes, label))"),
    ("passphrase length", FILE, "true", "1...4096 ~= text.count"),
    ("passphrase unassigned", FILE, "true", "guard isAssigned"),
    ("a damaged slot ends unlocking", "VaultCore/Vault/Vault+Unlock.swift", "true", "error.code == .kdfAboveCeiling || error.code == .outOfMemory"),
    # The tree
    ("node digest", TREE, "true", "keys.node(node, depth: depth) == digest"),
    ("node order not asked", TREE, "drop", "try node.checkOrder()"),
    ("node empty", TREE, "true", "!node.isEmpty || (prefix.isEmpty && isEmpty)"),
    ("node length bound", TREE, "true", "body.count <= (isLeaf ? Node.maximumByteCount : 256 * (1 + Digest.byteCount))"),
    ("node whole entries", NODE, "true", "body.count % entryByteCount == 0"),
    ("node keys ascending", NODE, "true", "index == 0 || isKey(at: index - 1, before: index)"),
    ("node keys under the prefix", NODE, "true", "keyByteCount == 1 || isKeyUnderPrefix(at: index)"),
    ("node keys twice", NODE, ("return false", "return true"), None),
    # Records
    ("leaf digest", STATE, "true", "keys.integrity.leaf(record) == leaf"),
    ("secret's digest", STATE, "true", "Digest(unchecked: Digest.hash(secret, byteCount: Digest.byteCount)) == Digest(record.secretDigest)"),
    ("kind in the identifier", META, "true", "kind.firstBytes.contains(record.id.byte(at: 0))"),
    ("group cache: leaf", "VaultCore/Vault/Keyring.swift", "true", "known.leaf == leaf"),
    ("branch: entries of other kinds", TREE, "true", "!node.prefix.isEmpty || firstBytes.contains(key[key.startIndex])"),
    ("tree deepens before a node is full", "VaultCore/Tree/TreeEditor.swift", "false", "count > Node.growingEntryCount"),
    ("node of 4,096 entries", "VaultCore/Tree/TreeEditor.swift", "true", "count <= Node.maximumEntryCount"),
    ("vault of 2^24 records", "VaultCore/Tree/TreeEditor.swift", "true", "recordCount <= Header.maximumRecordCount"),
    ("walk: row that nothing lists", STATE, "true", "next == id"),
    ("walk: record missing in between", STATE, "drop", "try passMissing(before: id)"),
    ("walk: record missing at the end", STATE, "drop", "try passMissing(before: nil)"),
    ("record kind of a group", STATE, "true", "meta.kind == .group"),
    ("record kind of an item", STATE, "true", "meta.kind == .item"),
    ("record of another group", STATE, "false", "record.group != group.groupID"),
    ("item id recomputed", STATE, "true", "group.itemID(item) == record.id"),
    ("group id recomputed", "VaultCore/VaultKeys.swift", "true", "groupRecordID(group.group) == record.id"),
    ("meta reserved 2", META, ("try reader.readZeros(2)", "_ = try reader.read(2)"), None),
    ("meta version bounds", META, "true", "(1...(generation ?? header.generation)).contains(version)"),
    ("meta epoch", META, "true", "epoch > 0"),
    ("system record's group", META, "true", "record.group == .zero,"),
    ("system record's class", META, "true", "accessibility == .whenUnlocked"),
    ("system record's epoch", META, "true", "epoch == header.masterEpoch"),
    ("item in the system's group", META, "false", "kind == .item && record.group == .zero"),
    ("box length of attributes", META, "true", "SecretBox.isBoxCount(record.attributes.count)"),
    ("box length of the secret", META, "true", "SecretBox.isBoxCount(record.secretCount)"),
    ("box length when opened", "VaultCore/Sodium/SecretBox.swift", "true", "isBoxCount(box.byteCount)"),
    ("padding mark", "VaultCore/Format/Padding.swift", "true", "field.byte(at: end - 1) == 0x80"),
    ("padding bucket", "VaultCore/Format/Padding.swift", "true", "paddedCount(end - 1) == field.count"),
    ("padding of more than a field", "VaultCore/Format/Padding.swift", "true", "end - 1 <= maximumCount"),
    ("attribute name length", "VaultCore/Format/TLV.swift", "true", "(1...Attributes.maximumNameByteCount).contains(Int(nameCount))"),
    ("attribute name control", "VaultCore/Format/TLV.swift", "true", "!name.hasControlCharacter"),
    ("attribute order", "VaultCore/Format/TLV.swift", "true", "previous.map({ $0.order(name) < 0 }) ?? true"),
    ("attribute value length", "VaultCore/Format/TLV.swift", "true", "valueCount <= Attributes.maximumValueByteCount"),
    ("item: type of a primary attribute", ITEM, "true", "guard value.type == absent.type"),
    ("item: primary attribute empty", ITEM, "true", "value != absent"),
    ("item: type of a common attribute", ITEM, "true", "attributes[name].map({ $0.type == absent.type }) ?? true"),
    # Groups
    ("group identifier zero", GROUP, "true", "groupID != .zero"),
    ("group key reserved 2", GROUP, ("try reader.readZeros(2)", "_ = try reader.read(2)"), None),
    ("group key mark", GROUP, "true", "mark <= 1"),
    ("group key epoch", GROUP, "true", "epoch > 0"),
    (
        "group key order",
        GROUP,
        "true",
        "classKeys.last.map({ ($0.accessibility.rawValue, $0.epoch) < (accessibility.rawValue, epoch) }) ?? true",
    ),
    ("group secret length", GROUP, "true", "offset == secret.count"),
    ("group without keys", GROUP, "true", "!classKeys.isEmpty"),
    ("two groups with one identifier", "VaultCore/Groups/GroupDirectory.swift", "true", "groups[group.groupID] == nil"),
    ("damage: per record", STATE, "true", "error.code.concernsOneRecord"),
    # Anchor and the newest state
    ("anchor: another vault at the path", ANCHOR, "false", "!isNoted"),
    ("anchor: turned back", ANCHOR, "true", "anchor.generation < newest.header.generation"),
    ("anchor: the one before a renewal stays", ANCHOR, "false", "next == nil"),
    ("anchor: one that was announced counts as saved", ANCHOR, "true", "next != nil"),
    ("renewal: not announced", "VaultCore/Vault/Vault.swift", "drop",
     "if let header, let renewed = transaction.renewedKeys { try anchorKeeper?.announce(header, renewed.integrity) }"),
    ("anchor length", ANCHOR, "true", "bytes.count == Self.byteCount"),
    ("anchor magic", ANCHOR, "true", "try reader.read(8) == ArraySlice(Self.magic)"),
    ("anchor of another vault", ANCHOR, "true", "vault == keys.vault"),
    ("anchor MAC", ANCHOR, "true", "try keys.anchorMAC(authenticated) == reader.readDigest()"),
    ("anchor: rolled back", ANCHOR, "false", "current < generation"),
    ("anchor: forked now", ANCHOR, "true", "mac == state.mac"),
    ("anchor: forked before", ANCHOR, "true", "past == mac"),
    (
        "newest state not compared",
        "VaultCore/Vault/Keyring.swift",
        "false",
        "newest.mac != state.mac",
    ),
    # Writing
    ("duplicate", EDIT, "true", "id == old?.reference.id || tree.leaf(id) == nil"),
    ("group made twice", EDIT, "true", "try tree.leaf(keys.groupRecordID(group)) == nil"),
    ("last slot", "VaultCore/Vault/Vault+Slots.swift", "true", "!others.isEmpty"),
    ("last passphrase", "VaultCore/Vault/Vault+Slots.swift", "true", "try !transaction.hasPasscodeKeys()"),
    # Verification
    ("verify: count", VERIFY, "false", "leafCount != state.header.recordCount"),
    ("verify: row unlisted", VERIFY, "drop", 'verification.note(VaultError(.recordUnlisted, "\\(id)"))'),
    ("verify: node unlisted", VERIFY, "drop", 'verification.note(VaultError(.nodeUnlisted, "at depth \\(prefix.count)"))'),
    ("verify: slots", VERIFY, "drop", "try collect {\n      _ = try SlotRows(proving: state.rows, header: state.header, keys: state.keys.integrity).parsed()\n    }"),
    ("verify: records", VERIFY, "drop", "try state.prove(record, id: record.id, leaf: leaf)"),
    ("verify: items' secrets", VERIFY, "drop", "_ = try state.openSecret(secret, of: record, meta: meta, group: group)"),
    ("verify: two groups with one identifier", VERIFY, "true", "groups[group.groupID] == nil"),
    ("verify: history missing", VERIFY, "drop", 'if try state.tree.leaf(id) == nil { throw VaultError(.historyMissing, "\\(id)") }'),
    ("verify: history unlisted", VERIFY, "drop", 'verification.note(VaultError(.historyUnlisted, "\\(id)"))'),
    ("former version of another place", "VaultCore/Vault/Vault+History.swift", "true",
     "group.historyID(origin, isRemoved ? .max : number) == record.id"),
    ("order of former versions", "VaultCore/Items/FormerVersion.swift", "true",
     "former.last.map({ FormerVersion.isNewer($0, version) }) ?? true"),
    ("limits out of bounds", "VaultCore/Vault/Limits.swift", "true", "name.range.contains(value)"),
    ("verify: limits of writers", VERIFY, "drop", "_ = try item.checked(keeping: item.attributes)"),
    ("verify: memory is no fault", VERIFY, "true", "error.code != .outOfMemory && error.code != .memoryNotLockable"),
    ("remove by identifier: items alone", EDIT, "true", "RecordKind.item.firstBytes.contains(id.byte(at: 0))"),
    # Repair
    ("repair: records", REPAIR, "drop", "if let leaf { try state.prove(record, id: id, leaf: leaf) }"),
    ("repair: rows below damage", REPAIR, "true", "guard isBelowDamage(id)"),
    ("repair: a newer row stays", REPAIR, "true", "!stays"),
    ("repair: removed since the backup", REPAIR, "true", "!wasRemoved(id, opened, after: old.generation)"),
    ("repair: of the backup, what is below damage", REPAIR, "true", "isBelowDamage(id), "),
    ("repair: of the backup, what is not here", REPAIR, "true", "!met.contains(id)"),
    ("repair: two groups with one identifier", REPAIR, "true", "!keptGroups.contains(where: { $0.groupID == group.groupID })"),
    ("repair: a record of a later version", REPAIR, "true", "guard isProven"),
    ("repair: the plan that was shown", "VaultUpkeep/Vault+Repair.swift", "true", "walk.plan == agreed"),
    ("repair: an earlier backup", "VaultUpkeep/Vault+Repair.swift", "true", "past.header.generation <= state.header.generation"),
    ("repair: groups below damage made anew", MENDING, "false", "walk.plan.nodeCount > 0"),
    ("repair: versions of another group", MENDING, "true", "walk.owners[$0]?.group == place.group"),
    ("repair: a list that is whole", MENDING, "true", "added[owner] != nil || !versions.allSatisfy({ walk.leaves[$0] != nil })"),
    ("repair: a list of 64 at most", MENDING, "false", "marks.former.count > FormerVersion.maximumCount"),
    ("removal: a list of 64 at most", "VaultCore/Vault/Transaction+History.swift", "false", "marks.former.count > most"),
    # A new master key
    ("renewal: no slot", RENEWAL, "true", "!slots.isEmpty"),
    ("renewal: slots of before", RENEWAL, "true", "try transaction.slots().map(\\.description) == before"),
    ("renewal: last passphrase", RENEWAL, "true", "!groups.contains(where: \\.hasPasscodeKey)"),
    ("renewal: old nodes", RENEWAL, "drop", "change.nodes[prefix] = .some(nil)"),
    ("renewal: count", RENEWAL, "true", "tree.recordCount == header.recordCount"),
    ("renewal: all groups", RENEWAL, "false", "groups?.contains(group.group) ?? true"),
    ("renewal: an unfinished re-key", RENEWAL, "false", "group.isBeingReplaced"),
    ("re-key: a row that is not proven", REKEY, "drop", "try state.prove(record, id: id, leaf: leaf)"),
    ("re-key: rows that others have written", REKEY, "true", "pass.byte == 1 || pass.generation == state.header.generation"),
    ("re-key: the rows of a commit", REKEY, "false", "rowCount >= mostRows"),
    ("re-key: the number of a version", REKEY, "false", "decoded[HistoryMarks.numberName] == nil"),
    ("renewal: anchor", RENEWAL, "drop", "opened.saveAnchor(isDurable: true)"),
    ("an open vault: a commit without the anchor", "VaultCore/Vault/Vault.swift", "drop",
     "try anchorKeeper?.check(transaction.state, transaction.slotRows, against: anchorKeeper?.load())"),
    ("an open vault: a look without the anchor", "VaultCore/Vault/Vault.swift", "drop",
     "try anchorKeeper?.check(state, state.slotRows(), against: anchor)"),
    ("an open vault: keys of before stay", "VaultCore/Vault/AnchorKeeper.swift", "false", "error.code == .anchorOtherKeys"),
    ("renewal: boxes of other devices", BOXES, "true", "error.code == .deviceKeyMissing || error.code == .wrongDeviceKey"),
    # Memory
    ("memory wiped when freed", "SecretMemory/SlabArena.swift", "drop", "unsafe sodium_memzero(slot.base, slot.capacity)"),
    ("memory wiped when cut", "SecretMemory/Secret.swift", "drop", "unsafe sodium_memzero(slot.base + count, self.count - count)"),
    ("memory must be lockable", "SecretMemory/Slab.swift", "false", "!isLocked && policy == .required"),
]

# Checks that nothing can reach without another one failing with the same answer, so that no test can tell. They stay in the code as
# a second line, and are no mutants.
#   ProvenState.prove, record.id == id: the leaf digest covers the identifier.
#   KeySlot, bytes.count >= fixedCount: what is missing is refused where it is read.
#   RecoveryKey, written == bytes.count and bits == 0: a text that is too short has the wrong checksum.
