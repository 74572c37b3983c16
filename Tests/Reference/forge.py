"""Builds vault files stage by stage, so that a test can break exactly one rule and keep everything above it valid.

Stages, in this order; an edit is a function that gets the Forge:
    slots    self.slots {k: row}                 before the slots digest
    records  self.records {id: (grp, m, a, d, s)} before the leaf digests
    leaves   self.leaves {id: leaf}              before the tree; self.body_edits {p: function(body) -> body}
    header   self.header, self.ring (bytes or None), before slots digest and MAC; see self.digest_first
    signed   self.header after the MAC
    tables   self.hdr, self.rec, self.node       lists of rows as they are stored
    sql      returns SQL statements run at the end
    file     self.file (bytearray), self.roots {table: page number}
"""
import hashlib
import os
import shutil
import sqlite3

import coffer_format as f

SEED = b"coffer-reference-vectors-1"
KEY_FILE = bytes(range(0x30, 0x30 + 48))
DEVICE_KEY = bytes(range(0xD0, 0xF0))
PROBE = {"class": (f.INTEGER, 1), "account": (f.TEXT, "alice"), "service": (f.TEXT, "probe")}
BOB = {"class": (f.INTEGER, 1), "account": (f.TEXT, "bob"), "service": (f.TEXT, "github")}


class Random:
    def __init__(self, seed):
        self.seed, self.counter = seed, 0

    def __call__(self, n):
        self.counter += 1
        return hashlib.shake_256(self.seed + f.u64(self.counter)).digest(n)


class Forge:
    def __init__(self, name, depth=0, generation=7, device=False, cls=1, items=True, groups=("default", "work")):
        self.name, self.depth, self.generation = name, depth, generation
        self.random = Random(SEED + name.encode())
        self.device = device
        self.mk, self.vid = self.random(32), self.random(16)
        self.keys = f.MasterKeys(self.mk, self.vid)
        self.slots = {1: self.slot()}
        self.ring = self.random(32 * f.ring_length(generation)) if generation > 1 else None
        self.header = f.Header(vid=self.vid, depth=depth, generation=generation, created=1_700_000_000,
                               previous=self.ring[-32:] if self.ring else bytes(32))
        self.records, self.groups, self.items, self.body_edits = {}, {}, {}, {}
        self.digest_first = False
        for group in groups:
            self.add_group(group)
        if items:
            self.add_item("default", {**BOB, "label": (f.TEXT, "Ä label"), "created": (f.TIME, 1_700_000_001)},
                          b"hunter2", cls)
            self.add_item("default", self.generic("eve", "mail"), b"")
            self.add_item("work", self.generic("bob", "github"), b"another secret", 2)

    # Model

    @staticmethod
    def generic(account, service):
        return {"class": (f.INTEGER, 1), "account": (f.TEXT, account), "service": (f.TEXT, service)}

    def slot(self, credential=None, vid=None, mk=None, t=3, m=65536, ext=b""):
        return f.make_slot(credential or f.Credential(key_file=KEY_FILE), vid or self.vid, mk or self.mk, m, t,
                           ext=ext, random=self.random)

    def unusable_slot(self, type_=1, t=3, m=65536, ikm=bytes(32)):
        """A slot of types 1 or 4 made without the work of Argon2id; nothing opens it."""
        return f.slot_row(ikm, self.vid, f.slot_head(type_, self.random(16), self.random(16), t, m), b"",
                          self.random(24), self.mk)

    def device_box(self, gid, cls, epoch, gk, **pad):
        return self.box(f.device_box_key(DEVICE_KEY, self.vid, gid, cls, epoch), gk, **pad)

    def box(self, key, m, padded=None):
        nonce = self.random(24)
        return f.seal(key, m, nonce) if padded is None else nonce + f.sodium.secretbox(padded, nonce, key)

    def add_group(self, name, ver=1, gid=None, classes=(1, 2), entries=None):
        gid, gks = gid or self.random(16), {(cls, 1): self.random(32) for cls in (*classes, *((3, 4, 5) * self.device))}
        stored = {k: self.device_box(gid, *k, gk) if k[0] > 2 else gk for k, gk in gks.items()}
        group = f.Group(f.group_id(self.keys.sys, name), name,
                        {"name": (f.TEXT, name), "created": (f.TIME, 1_700_000_000)}, gid, self.random(32),
                        {**stored, **(entries or {})}, ver)
        group.gks = gks
        self.groups[name] = group
        self.put_group(name)
        return group

    def put_group(self, name="default", a=None, s=None, **other):
        """(Re)writes a group record; a and s are plaintexts."""
        g = self.groups[name]
        self.put(g.id, **{**dict(kind=2, cls=1, epoch=1, ver=g.ver, grp=f.ZERO16, gk=self.keys.sys,
                                 a=f.pack_list(g.attributes) if a is None else a,
                                 s=f.pack_group(g.gid, g.ik, g.keys) if s is None else s), **other})

    def add_item(self, group, attributes, secret, cls=1, ver=None):
        g = self.groups[group]
        id_ = f.item_id(g.ik, attributes)
        ver = ver or self.generation
        self.items[id_] = f.Item(id_, g, cls, dict(attributes), secret, ver)
        self.put_item(id_)
        return id_

    def put_item(self, id_=None, a=None, s=None, **other):
        """(Re)writes an item, bob's in the group default unless told; a and s are plaintexts."""
        i = self.items[id_ or self.bob]
        self.put(i.id, **{**dict(kind=1, cls=i.cls, epoch=1, ver=i.ver, grp=i.group.gid,
                                 gk=i.group.gks.get((other.get("cls", i.cls), other.get("epoch", 1)), bytes(32)),
                                 a=f.pack_list(i.attributes) if a is None else a, s=i.secret if s is None else s),
                          **other})

    def put(self, id_, kind, cls, epoch, ver, grp, gk, a, s, flags=0, at=None, sealed=None, pad_a=None, pad_s=None,
            fields=(1, 2)):
        """sealed replaces parts of what the boxes are bound to: vid, id, grp, m; at is the id of the row."""
        m = f.pack_m(kind, cls, epoch, ver, flags)
        bound = {**dict(vid=self.vid, id_=at or id_, grp=grp, m=m), **(sealed or {})}
        keys = [f.record_key(gk, bound["vid"], bound["id_"], bound["grp"], bound["m"], x) for x in fields]
        a, s = self.box(keys[0], a, pad_a), self.box(keys[1], s, pad_s)
        self.records[at or id_] = (grp, m, a, f.HASH(s), s)

    def other_kind(self, kind, grp=None, prefix=None):
        """A record of no meaning; its id begins with the prefix, or as the kind wants it."""
        grp = grp or (f.ZERO16 if kind in (2, 3, 4, 5) else self.groups["default"].gid)
        if prefix is None:
            prefix = b"\0" if kind in (2, 3, 4, 5) else bytes([128 | self.random(1)[0]])
        id_, s = prefix + self.random(16 - len(prefix)), self.random(168)
        self.records[id_] = (grp, f.pack_m(kind, 1, 1, 1), self.random(168), f.HASH(s), s)

    def put_rule(self, attributes, s=b"", **other):
        """A record of kind 3; what has no id of its own by 8.7 gets one by `at`."""
        packed = attributes if isinstance(attributes, bytes) else f.pack_list(attributes)
        id_ = other.pop("id_", None) or f.rule_id(self.keys.sys, attributes)
        self.put(id_, **{**dict(kind=3, cls=1, epoch=1, ver=1, grp=f.ZERO16, gk=self.keys.sys, a=packed, s=s), **other})
        return id_

    def put_former(self, number, time=9, head=False, origin=None, owner=None, entries=(), s=b"old", edits=None, **other):
        """A former version of an item, bob's unless told, or its head; returns the id. The owner's list is written elsewhere."""
        i = self.items[owner or self.bob]
        origin = origin or i.id
        marks = {"origin": (f.DATA, origin), "origin-version": (f.INTEGER, number),
                 "deleted" if head else "replaced": (f.TIME, time)}
        if entries:
            marks["former"] = (f.DATA, f.pack_former(entries))
        a = {k: x for k, x in {**i.attributes, **marks, **(edits or {})}.items() if x is not None}
        id_ = f.former_id(i.group.ik, origin, f.HEAD if head else number)
        self.put(id_, **{**dict(kind=6, cls=i.cls, epoch=1, ver=i.ver, grp=i.group.gid, gk=i.group.gks[i.cls, 1],
                                a=f.pack_list(a), s=s), **other})
        return other.get("at", id_)

    def name_former(self, *entries, **other):
        """Puts the entries (origin, version, replaced) into bob's list."""
        i = self.items[self.bob]
        self.put_item(a=f.pack_list({**i.attributes, "former": (f.DATA, f.pack_former(entries)), **other}))

    def put_policy(self, attributes, s=b"", **other):
        """A record of kind 5, under the id of the limits unless told."""
        attributes = {"policy": (f.TEXT, "limits"), **attributes}
        packed = f.pack_list({k: x for k, x in attributes.items() if x is not None})
        id_ = other.pop("id_", None) or f.policy_id(self.keys.sys, "limits")
        self.put(id_, **{**dict(kind=5, cls=1, epoch=1, ver=1, grp=f.ZERO16, gk=self.keys.sys, a=packed, s=s), **other})

    def flip(self, id_, column, at=30, mask=1):
        """Changes one byte of a stored column."""
        row = list(self.records[id_])
        b = bytearray(row[column])
        b[at] ^= mask
        row[column] = bytes(b)
        self.records[id_] = (*row[:3], f.HASH(row[4]), row[4])

    @property
    def bob(self):
        return f.item_id(self.groups["default"].ik, BOB)

    @property
    def eve(self):
        return f.item_id(self.groups["default"].ik, self.generic("eve", "mail"))

    @property
    def probe(self):
        return f.item_id(self.groups["default"].ik, PROBE)

    @property
    def group(self):
        return self.groups["default"].id

    def anchor(self, generation=None, mac=None, vid=None, key=None):
        body = (b"CofferA1" + (vid or self.vid) + f.u64(self.header.generation if generation is None else generation)
                + (mac or self.header.mac))
        return body + f.KDF(key or self.keys.hdr, "anchor", body)

    # Stages

    def tree(self):
        level = {}
        for id_, leaf in self.leaves.items():
            level.setdefault(id_[:self.depth], []).append(id_ + leaf)
        nodes, digest = {}, None
        if not level:
            level = {b"": []}
        for d in range(max(map(len, level)), -1, -1):
            above = {}
            for p, entries in level.items():
                body = b"".join(sorted(entries))
                nodes[p] = body = self.body_edits.get(p, lambda x: x)(body)
                digest = f.node_digest(self.keys.tree, self.vid, self.depth, p, body)
                if d:
                    above.setdefault(p[:-1], []).append(p[-1:] + digest)
            level = above
        return nodes, digest

    def make_leaves(self):
        self.leaves = {id_: f.leaf_digest(self.keys.tree, self.vid, id_, *row) for id_, row in self.records.items()}

    def slots_digest(self):
        rows = {**self.slots, **({} if self.ring is None else {9: self.ring})}
        self.header.slots_digest = f.slots_digest(self.keys.hdr, self.vid, rows)

    def build(self, path, **edits):
        def stage(name):
            return edits.get(name, lambda forge: None)(self)

        stage("slots")
        stage("records")
        self.make_leaves()
        stage("leaves")
        nodes, root = self.tree()
        h = self.header
        h.root_digest, h.count, h.slots = root, len(self.leaves), len(self.slots)
        stage("header")
        if not self.digest_first:
            self.slots_digest()
        h.sign(self.keys.hdr)
        stage("signed")
        self.hdr = [(0, h.pack()), *self.slots.items()] + ([] if self.ring is None else [(9, self.ring)])
        self.rec = [(id_, *row) for id_, row in self.records.items()]
        self.node = list(nodes.items())
        stage("tables")
        self.write(path, stage("sql") or [])
        if "file" in edits:
            with open(path, "rb") as file:
                self.file = bytearray(file.read())
            stage("file")
            with open(path, "wb") as file:
                file.write(self.file)

    def write(self, path, sql):
        if os.path.exists(path):
            os.remove(path)
        con = f.create_file(path)
        try:
            con.execute("PRAGMA journal_mode=OFF")
            con.execute("PRAGMA synchronous=OFF")
            con.execute("BEGIN")
            f.create_schema(con)
            con.executemany("INSERT INTO hdr(k,v) VALUES(?,?)", self.hdr)
            con.executemany("INSERT INTO rec(id,grp,m,a,d,s) VALUES(?,?,?,?,?,?)", self.rec)
            con.executemany("INSERT INTO node(p,b) VALUES(?,?)", self.node)
            con.execute("COMMIT")
            self.roots = dict(con.execute("SELECT name,rootpage FROM sqlite_schema").fetchall())
            if sql:
                con.execute("PRAGMA writable_schema=ON")
                for statement in sql:
                    con.execute(statement)
        finally:
            con.close()


# What may lie beside a vault

def run_sql(path, statements):
    con = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        con.execute(statement)
    con.close()


def in_wal(path, statements):
    """Commits the statements to a write-ahead log that stays beside the file."""
    run_sql(path, ["PRAGMA journal_mode=WAL"])
    con = sqlite3.connect(path, isolation_level=None)
    con.execute("PRAGMA wal_autocheckpoint=0")
    for statement in statements:
        con.execute(statement)
    _keep(path, con, "-wal")


def hot_journal(path, statements):
    """Leaves the file as after a crash in the middle of a transaction with these statements."""
    con = sqlite3.connect(path, isolation_level=None)
    con.execute("PRAGMA cache_size=1")
    con.execute("BEGIN IMMEDIATE")
    for statement in statements:
        con.execute(statement)
    for i in range(100, 164):
        con.execute("INSERT INTO node VALUES(?,zeroblob(3000))", (bytes([i, 0, 0]),))
    _keep(path, con, "-journal")


def _keep(path, con, suffix):
    for x in ("", suffix):
        shutil.copyfile(path + x, path + ".copy" + x)
    con.close()
    for x in ("", suffix):
        os.replace(path + ".copy" + x, path + x)
