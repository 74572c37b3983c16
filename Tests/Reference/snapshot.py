"""One transaction on a proven header: tree, rows, groups, items, and the full walk (section 10.1)."""
from dataclasses import dataclass

import contents as c
import format as f
from format import refuse

TREE_RULES = ("R6", "R28", "R29", "R30", "R31")


@dataclass
class Row:
    id: bytes
    grp: bytes
    m: bytes
    a: bytes
    d: bytes
    s: bytes

    def __post_init__(self):
        self.kind, self.cls, _, self.epoch, self.ver = c.parse_m(self.m)


@dataclass
class Group:
    id: bytes
    name: str
    attributes: dict
    gid: bytes
    ik: bytes
    keys: dict
    ver: int
    marked: set = ()


@dataclass
class Item:
    id: bytes
    group: Group
    cls: int                    # protection class
    attributes: dict            # None while sealed for a device whose key is not at hand
    secret: bytes
    ver: int
    former: list = ()
    version: int = None


class Snapshot:
    def __init__(self, vault):
        self.vault, self.con = vault, vault.con
        self.check_schema()
        ks = [k for k, in self.con.execute("SELECT k FROM hdr LIMIT 11")]
        if any(not 0 <= k <= 9 for k in ks) or 0 not in ks or not any(1 <= k <= 8 for k in ks):
            refuse("R7", "rows")
        self.header = f.Header.parse(self.hdr_rows(0, 0)[0])
        self.keys, self.rows = None, None
        self.nodes, self.by_gid, self.by_name = {}, {}, {}
        self.all_groups = False

    # Header, slots

    def check_schema(self):
        rows = self.con.execute("SELECT typeof(type)='text' AND typeof(name)='text' AND typeof(tbl_name)='text' "
                                "AND typeof(sql)='text',type,name,tbl_name,sql FROM sqlite_schema LIMIT 4").fetchall()
        wanted = {(1,) + tuple(x.encode() for x in row) for row in f.SCHEMA}
        if len(rows) != 3 or set(rows) != wanted:
            refuse("R5")

    def hdr_rows(self, low, high):
        out = {}
        for k in range(low, high + 1):
            for v, in self.con.execute("SELECT CASE WHEN typeof(v)='blob' AND length(v)<=? THEN v END FROM hdr "
                                       "WHERE k=?", (f.hdr_limit(k), k)):
                if v is None:
                    refuse("R6", f"hdr {k}")
                out[k] = v
        return out

    def prove_header(self, keys):
        self.keys, self.vid = keys, keys.vid
        if self.header.vid != keys.vid:
            refuse("R20", "another vault")
        self.header.check_mac(keys.hdr)

    def prove_slots(self):
        self.rows = self.hdr_rows(1, 9)
        f.check_slots_and_ring(self.keys, self.header, self.rows)

    # Tree

    def node(self, p, digest):
        """The entries of the node p, proven by its digest."""
        if p in self.nodes:
            return self.nodes[p]
        depth, limit = self.header.depth, f.MAX_NODE
        row = self.con.execute("SELECT length(b),CASE WHEN typeof(b)='blob' AND length(b)<=? THEN b END FROM node "
                               "WHERE p=?", (limit, p)).fetchone()
        if row is None:
            refuse("R28", p.hex())
        body = row[1]
        if body is None:
            refuse("R6", "node " + p.hex())
        if len(body) > c.node_limit(depth, len(p)):
            refuse("R29", p.hex())
        if not f.same(digest, c.node_digest(self.keys.tree, self.vid, depth, p, body)):
            refuse("R30", p.hex())
        self.nodes[p] = c.parse_node(depth, p, body, self.header.count)
        return self.nodes[p]

    def find(self, id_):
        """The leaf digest of id_, or None if its absence is proven."""
        digest = self.header.root_digest
        for d in range(self.header.depth):
            digest = self.node(id_[:d], digest).get(id_[d:d + 1])
            if digest is None:
                return None
        return self.node(id_[:self.header.depth], digest).get(id_)

    def walk(self, p=b"", digest=None):
        """All (id, leaf), in order."""
        entries = self.node(p, digest or self.header.root_digest)
        if len(p) == self.header.depth:
            yield from entries.items()
        else:
            for byte, child in entries.items():
                yield from self.walk(p + byte, child)

    # Rows

    ROW = ("SELECT " + ",".join(f"CASE WHEN typeof({x})='blob' AND length({x}){bound} THEN {x} END" for x, bound in (
        ("grp", "=16"), ("m", "=16"), ("a", f"<={f.MAX_BOX}"), ("d", "=32"), ("s", f"<={f.MAX_BOX}"))) + " FROM rec WHERE id=?")

    def row(self, id_, leaf):
        """The row of a proven leaf entry, checked up to the lengths of the boxes."""
        columns = self.con.execute(self.ROW, (id_,)).fetchone()
        if columns is None:
            refuse("R32", id_.hex())
        if None in columns:
            refuse("R6", "rec " + id_.hex())
        grp, m, a, d, s = columns
        if not f.same(leaf, c.leaf_digest(self.keys.tree, self.vid, id_, grp, m, a, d, s)):
            refuse("R33", id_.hex())
        c.check_m(m, grp, self.header.generation, self.header.epoch)
        row = Row(id_, grp, m, a, d, s)
        if not c.id_fits(id_, row.kind):
            refuse("R51", id_.hex())
        if not (f.is_box_length(len(a)) and f.is_box_length(len(s))):
            refuse("R36", id_.hex())
        return row

    def prove_secret(self, row):
        """s as the writer left it; needed by whoever uses it, and by nobody else."""
        if not f.same(row.d, f.HASH(row.s)):
            refuse("R52", row.id.hex())
        return True

    def open_boxes(self, row, gk, fields="as"):
        if "s" in fields:
            self.prove_secret(row)
        padded = [f.unseal(c.record_key(gk, self.vid, row.id, row.grp, row.m, 1 + "as".index(x)), getattr(row, x),
                           f"{row.id.hex()} {x}") for x in fields]
        return [f.unpad(p) for p in padded]

    # Groups

    def open_group(self, row):
        a, s = self.open_boxes(row, self.keys.sys)
        attributes = c.parse_list(a)
        name = c.check_group_attributes(attributes)
        gid, ik, keys, marked = c.parse_group(s)
        if not f.same(row.id, c.group_id(self.keys.sys, name)):
            refuse("R44", "group")
        group = Group(row.id, name, attributes, gid, ik, keys, row.ver, marked)
        known = self.by_gid.setdefault(gid, group)
        if known.id != group.id:
            refuse("R43", "gid claimed twice")
        self.by_name[name] = known
        return known

    def find_group(self, name):
        """The group, or None if its absence is proven."""
        if name not in self.by_name:
            id_ = c.group_id(self.keys.sys, name)
            leaf = self.find(id_)
            if leaf is None:
                return None
            row = self.row(id_, leaf)
            if row.kind != c.KIND_GROUP:
                refuse("R35", "not a group record")
            self.open_group(row)
        return self.by_name[name]

    def group(self, name):
        group = self.find_group(name)
        if group is None:
            raise f.NotFound("no such group")
        return group

    def branch(self, first, last):
        """(id, leaf) of all ids whose first byte is in the range."""
        entries = self.node(b"", self.header.root_digest)
        if self.header.depth == 0:
            yield from ((id_, leaf) for id_, leaf in entries.items() if first <= id_[0] <= last)
        else:
            for byte, child in entries.items():
                if first <= byte[0] <= last:
                    yield from self.walk(byte, child)

    def groups(self):
        """All, and proven to be all: they lie in the branch of 00."""
        if not self.all_groups:
            for id_, leaf in self.branch(0, 0):
                row = self.row(id_, leaf)
                if row.kind == c.KIND_GROUP:
                    self.open_group(row)
            self.all_groups = True
        return sorted(self.by_name.values(), key=lambda g: g.name.encode())

    def group_of(self, gid):
        if gid not in self.by_gid:
            self.groups()
        if gid not in self.by_gid:
            refuse("R37", "grp")
        return self.by_gid[gid]

    def group_key(self, group, cls, epoch):
        """GK, or None if it is sealed for a device whose key is not at hand."""
        key = group.keys.get((cls, epoch))
        if key is None:
            refuse("R37", "class or epoch")
        if cls not in c.DEVICE_CLASSES:
            return key
        if self.vault.device_key is None:
            return None
        gk = f.unpad(f.unseal(c.device_box_key(self.vault.device_key, self.vid, group.gid, cls, epoch), key, "device", "R48"))
        if len(gk) != 32:
            refuse("R43", "boxed key")
        return gk

    # Access rules

    def open_rule(self, row):
        a, s = self.open_boxes(row, self.keys.sys)
        attributes = c.parse_list(a)
        if c.check_rule(attributes, s) and not f.same(row.id, c.rule_id(self.keys.sys, attributes)):
            refuse("R44", "access rule")

    def open_policy(self, row):
        a, s = self.open_boxes(row, self.keys.sys)
        attributes = c.parse_list(a)
        policy = c.check_policy(attributes, s)
        if policy and not f.same(row.id, c.policy_id(self.keys.sys, policy)):
            refuse("R44", "policy")

    # Former versions

    def open_former(self, row):
        """(item, entry in a list, whether it is a head); None if it is sealed for a device."""
        group = self.group_of(row.grp)
        gk = self.group_key(group, row.cls, row.epoch)
        if gk is None:
            return None
        a, s = self.open_boxes(row, gk)
        attributes = c.parse_list(a)
        c.check_item_attributes(attributes)
        former, version, origin, time, head = c.take_history(attributes, False)
        if not f.same(row.id, c.former_id(group.ik, origin, c.HEAD if head else version)):
            refuse("R44", "former version")
        return Item(row.id, group, row.cls, attributes, s, row.ver, former, version), (origin, version, time), head

    def find_head(self, group, id_):
        """Of a removed item: as open_former; None if there is none."""
        id_ = c.former_id(group.ik, id_, c.HEAD)
        leaf = self.find(id_)
        return leaf and self.open_former(self.row(id_, leaf))

    def history(self, item):
        """The former versions of an item or head: [(entry, item)], newest first."""
        out = []
        for origin, version, time in item.former:
            id_ = c.former_id(item.group.ik, origin, version)
            leaf = self.find(id_)
            if leaf is None:
                refuse("R57", id_.hex())
            opened = self.open_former(self.row(id_, leaf))
            out.append(((origin, version, time), opened and opened[0]))
        return out

    def check_history(self, attempt, items, rows):
        """Each entry has its row, and each row its entry."""
        named, met, heads = set(), set(), []
        for row in rows:
            opened = attempt(self.open_former, row)
            if opened and opened[2]:
                heads.append(opened[0])
            elif opened:
                met.add(row.id)
        for item in items + heads:
            named.update(c.former_id(item.group.ik, o, v) for o, v, _ in item.former)
        return named, met

    # Items

    def open_item(self, row, secret=True):
        group = self.group_of(row.grp)
        gk = self.group_key(group, row.cls, row.epoch)
        if gk is None:
            return Item(row.id, group, row.cls, None, None, row.ver)
        opened = self.open_boxes(row, gk, "as" if secret else "a")
        attributes = c.parse_list(opened[0])
        c.check_item_attributes(attributes)
        former, version, _, _, _ = c.take_history(attributes, True)
        if not f.same(row.id, c.item_id(group.ik, attributes)):
            refuse("R44", "item")
        return Item(row.id, group, row.cls, attributes, opened[1] if secret else None, row.ver, former, version)

    def get_id(self, id_):
        """The item, or None if its absence is proven."""
        leaf = self.find(id_)
        if leaf is None:
            return None
        row = self.row(id_, leaf)
        if row.kind != c.KIND_ITEM:
            refuse("R35", "not an item")
        return self.open_item(row)

    def get(self, group, primary):
        return self.get_id(c.item_id(self.group(group).ik, primary))

    def list(self, group):
        """Items of one group with their attributes, without secrets; proven to be all."""
        group = self.group(group)
        rows = (self.row(id_, leaf) for id_, leaf in self.branch(0x01, 0x7F))
        return [self.open_item(row, secret=False) for row in rows if row.grp == group.gid]

    def dump(self):
        """All groups and all items, sorted by group name and id."""
        groups = self.groups()
        rows = (self.row(id_, leaf) for id_, leaf in self.branch(0x01, 0x7F))
        items = [self.open_item(row) for row in rows]
        return groups, sorted(items, key=lambda i: (i.group.name.encode(), i.id))

    # Verify

    def verify(self):
        """All problems, as Refused values; empty if the vault is sound."""
        problems = []

        def attempt(function, *arguments):
            try:
                return function(*arguments)
            except f.Refused as e:
                # Sealed for another device: no fault of the vault.
                if e.rule != "R48":
                    problems.append(e)

        leaves, listed = {}, set()

        def descend(p, digest):
            listed.add(p)
            entries = attempt(self.node, p, digest) or {}
            if len(p) == self.header.depth:
                leaves.update(entries)
            else:
                for byte, child in entries.items():
                    descend(p + byte, child)

        attempt(self.prove_slots)
        descend(b"", self.header.root_digest)
        tree_proven = not any(e.rule in TREE_RULES for e in problems)
        if tree_proven and len(leaves) != self.header.count:
            attempt(refuse, "R45", f"{len(leaves)} instead of {self.header.count}")
        rows = [row for row in (attempt(self.row, *x) for x in leaves.items()) if row]
        rows = [row for row in rows if attempt(self.prove_secret, row)]
        for row in rows:
            if row.kind == c.KIND_GROUP:
                attempt(self.open_group, row)
        self.all_groups = True
        for group in list(self.by_gid.values()):
            for cls, epoch in group.keys:
                attempt(self.group_key, group, cls, epoch)
        items, unopened = [], False
        for row in rows:
            if row.kind == c.KIND_ITEM:
                item = attempt(self.open_item, row)
                if item is not None and item.attributes is not None:
                    attempt(c.check_limits, item.attributes)
                    items.append(item)
                else:
                    unopened = True
            elif row.kind == c.KIND_RULE:
                attempt(self.open_rule, row)
            elif row.kind == c.KIND_POLICY:
                attempt(self.open_policy, row)
        named, met = self.check_history(attempt, items, [row for row in rows if row.kind == c.KIND_FORMER])
        whole = not problems and not unopened
        if tree_proven:
            for id_ in sorted(named - leaves.keys()):
                attempt(refuse, "R57", id_.hex())
        if whole:
            for id_ in sorted(met - named):
                attempt(refuse, "R58", id_.hex())
        for table, known, rule, query in (
                ("rec", leaves, "R46", "SELECT typeof(id)='blob' AND length(id)=16,id FROM rec"),
                ("node", listed, "R47", "SELECT typeof(p)='blob',p FROM node")):
            for ok, key in self.con.execute(query):
                if not ok:
                    attempt(refuse, "R6", table)
                elif key not in known and tree_proven:
                    attempt(refuse, rule, key.hex())
        return problems
