"""Creating and changing a vault (sections 10.2, 10.3 and 5)."""
import contextlib
import os
import time
from collections import Counter
from dataclasses import replace

import contents as c
import format as f
from making import DEFAULT_MEMORY, create_file, create_schema, make_slot, new_group, seal_group, seal_row
from reader import Vault
from snapshot import Item, Snapshot

class WritableVault(Vault):
    def __init__(self, *arguments, random=os.urandom, depth=0, **options):
        self.random, self.least_depth = random, depth
        super().__init__(*arguments, **options)

    @contextlib.contextmanager
    def write(self):
        """One commit. Everything done to the yielded Change happens together or not at all."""
        with self.transaction(kind=Change, begin="BEGIN IMMEDIATE") as change:
            if change.header.read_only & ~1:
                f.refuse("R11")
            change.prove_slots()
            yield change
            change.finish()
        self.keys = change.new_keys

    @classmethod
    def create(cls, path, credentials, device_key=None, memory=DEFAULT_MEMORY, created=None, random=os.urandom,
               depth=0):
        """A vault at generation 1 with one slot per credential and the group "default"."""
        if not 1 <= len(credentials) <= 8:
            raise f.InputError("1 to 8 slots")
        mk, vid = random(32), random(16)
        keys = f.MasterKeys(mk, vid)
        created = int(time.time()) if created is None else created
        slots = {k: make_slot(x, vid, mk, memory, random=random) for k, x in enumerate(credentials, 1)}
        group = new_group(keys, "default", created, random)
        row = seal_group(keys, group, 1, 1, random)
        leaves = {group.id: c.leaf_digest(keys.tree, vid, group.id, *row)}
        nodes, root = c.build_tree(keys.tree, vid, 0, leaves)
        header = f.Header(vid=vid, count=1, created=created, slots=len(slots), root_digest=root,
                          slots_digest=f.slots_digest(keys.hdr, vid, slots)).sign(keys.hdr)
        con = create_file(path)
        try:
            con.execute("BEGIN IMMEDIATE")
            create_schema(con)
            con.executemany("INSERT INTO hdr VALUES(?,?)", [(0, header.pack()), *slots.items()])
            con.execute("INSERT INTO rec VALUES(?,?,?,?,?,?)", (group.id, *row))
            con.executemany("INSERT INTO node VALUES(?,?)", nodes.items())
            con.execute("COMMIT")
        finally:
            con.close()
        return cls(path, credentials[0], device_key, random=random, depth=depth)


class Change(Snapshot):
    """A write in progress. Reads see the changes already made in it."""

    def __init__(self, vault):
        super().__init__(vault)
        self.random = vault.random
        self.changed_groups, self.changed_items = {}, {}     # id: Group; id: Item or None
        self.dropped = set()                                 # ids of former versions that go
        self.new_keys = vault.keys

    # Groups and items

    def add_group(self, name, created):
        if self.find_group(name) is not None:
            raise f.InputError("the group exists")
        group = new_group(self.keys, name, created, self.random)
        self.by_gid[group.gid] = self.by_name[name] = self.changed_groups[group.id] = group
        return group

    def newest_key(self, group, cls):
        """(epoch, GK) to seal with; made if the class has none yet."""
        epochs = sorted((e for c_, e in group.keys if c_ == cls and (c_, e) not in group.marked), reverse=True)
        for epoch in epochs:
            try:
                gk = self.group_key(group, cls, epoch)
            except f.Refused as e:
                if e.rule != "R48":
                    raise
                continue                                     # another device's
            if gk is None:
                raise f.InputError("this class needs the device key")
            return epoch, gk
        epoch = max((e for c_, e in group.keys if c_ == cls), default=0) + 1
        if len(group.keys) >= 255:
            raise f.InputError("the group has no room for a further key")
        gk = stored = self.random(32)
        if cls in c.DEVICE_CLASSES:
            if self.vault.device_key is None:
                raise f.InputError("this class needs the device key")
            stored = f.seal(c.device_box_key(self.vault.device_key, self.vid, group.gid, cls, epoch), gk, self.random(24))
        group.keys[cls, epoch] = stored
        self.changed_groups[group.id] = group
        return epoch, gk

    def get_id(self, id_):
        if id_ in self.changed_items:
            return self.changed_items[id_]
        return super().get_id(id_)

    def existing(self, id_):
        item = self.get_id(id_)
        if item is None:
            raise f.NotFound("no such item")
        if item.attributes is None:
            raise f.InputError("the item is sealed for a device")
        return item

    def put(self, group, attributes, secret, cls):
        """Writes an item whose id is free, or the item itself anew."""
        if not 1 <= cls <= 5:
            raise f.InputError("no such protection class")
        if len(secret) > f.MAX_MESSAGE:
            raise f.InputError("the secret is too long")
        kind = attributes.get("class", (0, 0))[1]
        for name in c.PRIMARY.get(kind, ()):
            if name in attributes and attributes[name][1] in ("", b"", 0):
                del attributes[name]
        try:
            c.check_item_attributes(c.parse_list(c.pack_list(attributes)))
        except (f.Refused, OverflowError, UnicodeEncodeError, AttributeError) as e:
            raise f.InputError(f"attributes: {e}") from e
        self.newest_key(group, cls)
        item = Item(c.item_id(group.ik, attributes), group, cls, attributes, secret, None)
        self.changed_items[item.id] = item
        return item

    def drop_history(self, item):
        """This writer makes no versions: those that are there stay with their item as long as it stays in its group and class."""
        if item is not None:
            self.dropped.update(c.former_id(item.group.ik, o, v) for o, v, _ in item.former)
            item.former = []

    def drop_head(self, group, id_):
        head = self.find_head(group, id_)
        if head:
            self.drop_history(head[0])
            self.dropped.add(head[0].id)

    def add(self, group, attributes, secret, cls=1):
        group = self.group(group)
        if attributes.get("class", (0, 0))[1] not in c.PRIMARY:
            raise f.InputError("no such item class")
        if self.get_id(c.item_id(group.ik, attributes)) is not None:
            raise f.InputError("the item exists")
        item = self.put(group, dict(attributes), secret, cls)
        self.drop_head(group, item.id)
        return item

    def update(self, id_, set_=(), unset=(), secret=None, cls=None):
        old = self.existing(id_)
        attributes = {name: v for name, v in old.attributes.items() if name not in unset} | dict(set_)
        return self.replace(old, old.group, attributes, old.secret if secret is None else secret, cls or old.cls)

    def move(self, id_, group):
        old = self.existing(id_)
        return self.replace(old, self.group(group), dict(old.attributes), old.secret, old.cls)

    def replace(self, old, group, attributes, secret, cls):
        if attributes.get("class", (0, 0))[1] not in c.PRIMARY:
            raise f.InputError("no such item class")
        new = c.item_id(group.ik, attributes)
        if new != old.id and self.get_id(new) is not None:
            raise f.InputError("the item exists")
        if group is not old.group or cls != old.cls:
            self.drop_history(old)
        item = self.put(group, attributes, secret, cls)
        item.former = old.former
        if new != old.id:
            self.changed_items[old.id] = None
            self.drop_head(group, new)
        return item

    def remove(self, id_):
        old = self.get_id(id_)
        if old is None:
            raise f.NotFound("no such item")
        self.drop_history(old)
        self.changed_items[id_] = None

    # Slots

    def add_slot(self, credential, k=None, memory=DEFAULT_MEMORY):
        """Fills the slot k, or the first free one."""
        k = k or next((i for i in range(1, 9) if i not in self.rows), 9)
        if not 1 <= k <= 8:
            raise f.InputError("no free slot")
        self.rows[k] = make_slot(credential, self.vid, self.new_keys.mk, memory, random=self.random)
        return k

    def remove_slot(self, k):
        if k not in self.rows or k == 9:
            raise f.NotFound("no such slot")
        if self.header.slots == 1 and len([x for x in self.rows if x != 9]) == 1:
            raise f.InputError("the last slot stays")
        del self.rows[k]

    def rekey(self, credentials, memory=DEFAULT_MEMORY):
        """A new master key; the given credentials are all that open the vault from then on."""
        if not 1 <= len(credentials) <= 8:
            raise f.InputError("1 to 8 slots")
        self.new_keys = f.MasterKeys(self.random(32), self.vid)
        for k in range(1, 9):
            self.rows.pop(k, None)
        for x in credentials:
            self.add_slot(x, memory=memory)

    # Commit

    def seal_changes(self, generation, epoch):
        """{id: row without id, or None}"""
        rows = dict.fromkeys(self.dropped)
        for id_, item in self.changed_items.items():
            rows[id_] = None
            if item is not None:
                key_epoch, gk = self.newest_key(item.group, item.cls)
                m = c.pack_m(c.KIND_ITEM, item.cls, key_epoch, generation)
                former = {"former": (c.DATA, c.pack_former(item.former))} if item.former else {}
                plain = c.pack_list(item.attributes | former), item.secret
                rows[id_] = seal_row(gk, self.vid, id_, item.group.gid, m, plain, self.random)
        for id_, group in self.changed_groups.items():
            rows[id_] = seal_group(self.new_keys, group, epoch, generation, self.random)
        return rows

    def renew_master(self, rows, generation, epoch):
        """Moves all group records in rows to their new ids; returns all leaves under the new key."""
        for group in self.groups():
            rows[group.id] = None
            new = replace(group, id=c.group_id(self.new_keys.sys, group.name))
            rows[new.id] = seal_group(self.new_keys, new, epoch, generation, self.random)
        leaves = {}
        for id_, leaf in self.walk():
            old = self.row(id_, leaf)
            if old.kind in (3, 4, 5):
                raise f.InputError("the vault holds records of kinds this version cannot seal anew")
            leaves[id_] = c.leaf_digest(self.new_keys.tree, self.vid, id_, old.grp, old.m, old.a, old.d, old.s)
        return leaves

    def finish(self):
        h, keys = self.header, self.new_keys
        old_mac, generation = h.mac, h.generation + 1
        fresh = keys is not self.keys
        epoch = h.epoch + fresh
        rows = self.seal_changes(generation, epoch)
        leaves = self.renew_master(rows, generation, epoch) if fresh else None
        changes, count = {}, h.count
        for id_, row in rows.items():
            existed = self.find(id_) is not None
            changes[id_] = row and c.leaf_digest(keys.tree, self.vid, id_, *row)
            count += (row is not None) - existed
            if row is None:
                self.con.execute("DELETE FROM rec WHERE id=?", (id_,))
            else:
                self.con.execute("INSERT OR REPLACE INTO rec VALUES(?,?,?,?,?,?)", (id_, *row))
        if count > f.MAX_RECORDS:
            raise f.InputError("too many records")
        depth = max(h.depth, self.vault.least_depth, 0 if count <= 256 else 1 if count <= 65_536 else 2)
        if not fresh and depth < 2 and self.crowded(depth, changes, count):
            depth += 1
        if fresh or depth != h.depth:
            leaves = dict(self.walk()) if leaves is None else leaves
            leaves.update(changes)
            leaves = {id_: leaf for id_, leaf in leaves.items() if leaf}
            while depth < 2 and max(Counter(id_[:depth] for id_ in leaves).values(), default=0) > c.GROWING_LEAVES:
                depth += 1
            root = self.rebuild(depth, leaves)
        else:
            root = self.edit(changes) if changes else h.root_digest
        self.rows[9] = (self.rows.get(9, b"") + old_mac)[-64 * 32:]
        h.epoch = epoch
        h.generation, h.count, h.depth, h.root_digest, h.previous = generation, count, depth, root, old_mac
        h.slots = sum(1 for k in self.rows if k <= 8)
        h.slots_digest = f.slots_digest(keys.hdr, self.vid, self.rows)
        h.sign(keys.hdr)
        self.con.execute("DELETE FROM hdr")
        self.con.executemany("INSERT INTO hdr VALUES(?,?)", [(0, h.pack()), *self.rows.items()])

    def crowded(self, depth, changes, count):
        """Whether a node of the tree as it is would hold more entries than a writer lets it have."""
        if depth != self.header.depth or count <= c.GROWING_LEAVES:
            return False
        touched = {}
        for id_, leaf in changes.items():
            touched.setdefault(id_[:depth], dict(self.nodes.get(id_[:depth], {})))[id_] = leaf
        return any(sum(1 for leaf in node.values() if leaf) > c.GROWING_LEAVES for node in touched.values())

    def rebuild(self, depth, leaves):
        nodes, root = c.build_tree(self.new_keys.tree, self.vid, depth, leaves)
        for p, body in nodes.items():
            if len(body) > c.node_limit(depth, len(p)):
                raise f.InputError("a node is full")
        self.con.execute("DELETE FROM node")
        self.con.executemany("INSERT INTO node VALUES(?,?)", nodes.items())
        return root

    def edit(self, changes):
        """Replaces leaf entries, and all nodes above, in a tree of unchanged depth; returns the root digest."""
        depth = self.header.depth
        level = {}
        for id_, leaf in changes.items():
            level.setdefault(id_[:depth], {})[id_] = leaf
        for d in range(depth, -1, -1):
            above = {}
            for p, entries in level.items():
                # self.find(id) proved the path of p as far as it exists
                node = {**self.nodes.get(p, {}), **entries}
                node = {k: digest for k, digest in node.items() if digest}
                body, digest = c.pack_node(node), None
                if len(body) > c.node_limit(depth, d):
                    raise f.InputError("a node is full")
                if body or not p:
                    digest = c.node_digest(self.keys.tree, self.vid, depth, p, body)
                    self.con.execute("INSERT OR REPLACE INTO node VALUES(?,?)", (p, body))
                else:
                    self.con.execute("DELETE FROM node WHERE p=?", (p,))
                if d:
                    above.setdefault(p[:-1], {})[p[-1:]] = digest
            level = above
        return digest
