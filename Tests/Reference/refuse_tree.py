"""Vectors for R28 to R33 and R45 to R47: nodes, leaf digests, rows, counts."""
import coffer_format as f
from forge import Forge, hot_journal, in_wal, run_sql
from rules import grant


def body(p, change):
    """Changes the body of a node before its digest is taken; p may be a function of the Forge."""
    return lambda v: v.body_edits.update({p(v) if callable(p) else p: change})


def node_row(p, value):
    """Replaces, adds or (None) removes a stored node; value may be a function of the old one."""
    def edit(v):
        key = p(v) if callable(p) else p
        old = dict(v.node).get(key)
        new = value(old) if callable(value) else value
        v.node = [x for x in v.node if x[0] != key] + ([] if new is None else [(key, new)])
    return edit


def rec_row(id_, change):
    """Replaces or (None) removes a stored row."""
    def edit(v):
        key, out = id_(v), []
        for row in v.rec:
            new = change(v, row) if row[0] == key else row
            if new is not None:
                out.append(new)
        v.rec = out
    return edit


def flip(column, at):
    def change(v, row):
        b = bytearray(row[column])
        b[at] ^= 1
        return row[:column] + (bytes(b),) + row[column + 1:]
    return change


def swap_entries(size):
    return lambda b: b[size:2 * size] + b[:size] + b[2 * size:]


def double_entry(size):
    return lambda b: b[:size] + b


def bob1(v):
    return v.bob[:1]


def group1(v):
    return v.group[:1]


def fill(v, prefix, n=3):
    """Records of no meaning whose ids start with the prefix."""
    for _ in range(n):
        id_ = prefix + v.random(16 - len(prefix))
        v.put(id_, kind=1, cls=1, epoch=1, ver=1, grp=v.groups["default"].gid, gk=bytes(32), a=b"", s=b"")


def aside(depth):
    """Options of a vault in which the probe's id lies apart from every other id at the first byte."""
    def records(v):
        fill(v, v.probe[:depth])
    return records


def vectors(add):
    d1, d2 = dict(depth=1), dict(depth=2)

    # R28
    add("node-root-gone", "R28", "get", tables=node_row(b"", None))
    add("node-table-empty", "R28", "get", tables=lambda v: setattr(v, "node", []))
    add("node-root-as-text-key", "R28", "get", tables=lambda v: setattr(v, "node", [("", x) for p, x in v.node]))
    add("node-leaf-level-gone", "R28", "get", options=d1, tables=node_row(bob1, None))
    add("node-group-leaf-gone", "R28", "get", options=d1, tables=node_row(group1, None))
    add("node-inner-gone", "R28", "get", options=d2, tables=node_row(bob1, None))
    add("node-deepest-gone", "R28", "get", options=d2, tables=node_row(lambda v: v.bob[:2], None))
    add("node-aside-gone", "R28", "list", options=d1, tables=node_row(lambda v: v.eve[:1], None))
    add("node-gone-for-write", "R28", "write", options=d1, records=aside(1), tables=node_row(lambda v: v.probe[:1], None))

    # R29
    add("node-inner-root-long", "R29", "get", options=d1, leaves=body(b"", lambda b: b + bytes(8449 - len(b))))
    add("node-inner-257-entries", "R29", "get", options=d1,
        leaves=body(b"", lambda b: b + bytes(33 * 257 - len(b))))
    add("node-inner-level-1-long", "R29", "get", options=d2, leaves=lambda v: body(bob1, lambda b: b + bytes(8481))(v))
    add("node-inner-at-limit-of-leaves", "R29", "get", options=d1,
        leaves=body(b"", lambda b: b + bytes(196_608 - len(b))))

    # R30
    add("node-root-bit", "R30", "get", tables=node_row(b"", lambda b: b[:-1] + bytes([b[-1] ^ 1])))
    add("node-root-emptied", "R30", "get", tables=node_row(b"", b""))
    add("node-root-entry-removed", "R30", "get", tables=node_row(b"", lambda b: b[:-48]))
    add("node-root-entry-added", "R30", "get", tables=node_row(b"", lambda b: b + b"\xff" * 48))
    add("node-leaf-level-bit", "R30", "get", options=d1, tables=node_row(bob1, lambda b: b[:20] + b"\0\0" + b[22:]))
    add("node-inner-bit", "R30", "get", options=d2, tables=node_row(bob1, lambda b: b[:-1] + bytes([b[-1] ^ 1])))
    add("node-exchanged", "R30", "get", options=d1, tables=lambda v: setattr(v, "node", [
        ({bob1(v): group1(v), group1(v): bob1(v)}.get(p, p), b) for p, b in v.node]))
    add("node-digest-of-other-level", "R30", "get", options=d1, leaves=lambda v: body(b"", lambda b: b.replace(
        f.node_digest(v.keys.tree, v.vid, 1, bob1(v), b"".join(sorted(
            i + x for i, x in v.leaves.items() if i[:1] == bob1(v)))), bytes(32)))(v))
    add("node-digest-of-other-depth", "R30", "get", header=lambda v: v.header.__dict__.update(depth=1))
    add("node-depth-lowered", "R30", "get", options=d1, header=lambda v: v.header.__dict__.update(depth=0))
    add("node-root-digest-zero", "R30", "get", header=lambda v: v.header.__dict__.update(root_digest=bytes(32)))
    add("node-other-vault", "R30", "get", tables=lambda v: setattr(v, "node", _other(v).node))
    add("node-other-vault-header", "R30", "get", tables=lambda v: setattr(v, "hdr", _other(v).hdr))
    add("node-aside-forged", "R30", "list", options=d1, tables=node_row(lambda v: v.eve[:1], lambda b: b[:-1] + b"\0\0"))
    add("node-forged-for-write", "R30", "write", options=d1, records=aside(1),
        tables=node_row(lambda v: v.probe[:1], lambda b: b[48:]))

    # R31
    add("node-part-entry", "R31", "get", leaves=body(b"", lambda b: b + b"\0"))
    add("node-part-entry-short", "R31", "get", leaves=body(b"", lambda b: b[:-1]))
    add("node-part-entry-inner", "R31", "get", options=d1, leaves=body(b"", lambda b: b + b"\xff"))
    add("node-leaves-in-inner", "R31", "get", options=d1, leaves=body(b"", lambda b: bytes(48)))
    add("node-unsorted", "R31", "get", leaves=body(b"", swap_entries(48)))
    add("node-doubled", "R31", "get", leaves=body(b"", double_entry(48)))
    add("node-doubled-other-leaf", "R31", "get", leaves=body(b"", lambda b: b[:16] + bytes(32) + b))
    add("node-inner-unsorted", "R31", "get", options=d1, leaves=body(b"", swap_entries(33)))
    add("node-inner-doubled", "R31", "get", options=d1, leaves=body(b"", double_entry(33)))
    add("node-level-1-doubled", "R31", "get", options=d2, leaves=lambda v: body(bob1, double_entry(33))(v))
    add("node-outside-prefix", "R31", "get", options=d1, leaves=lambda v: body(bob1, lambda b: b"".join(
        sorted([b[i:i + 48] for i in range(0, len(b), 48)] + [bytes([v.bob[0] ^ 1]) + bytes(47)])))(v))
    add("node-outside-prefix-2", "R31", "get", options=d2, leaves=lambda v: body(v.bob[:2], lambda b: b"".join(
        sorted([b[i:i + 48] for i in range(0, len(b), 48)] + [v.bob[:1] + bytes([v.bob[1] ^ 1]) + bytes(46)])))(v))
    add("node-empty-leaf-level", "R31", "get", options=d1, leaves=lambda v: body(bob1, lambda b: b"")(v))
    add("node-empty-inner", "R31", "get", options=d2, leaves=lambda v: body(bob1, lambda b: b"")(v))
    add("node-empty-root", "R31", "get", leaves=body(b"", lambda b: b""))
    add("node-empty-root-depth-1", "R31", "get", options=d1, leaves=body(b"", lambda b: b""))
    add("node-empty-aside", "R31", "list", options=d1, leaves=lambda v: body(v.eve[:1], lambda b: b"")(v))
    add("node-unsorted-for-write", "R31", "write", options=d1, records=aside(1),
        leaves=lambda v: body(v.probe[:1], swap_entries(48))(v))

    # R32
    add("row-gone", "R32", "get", tables=rec_row(lambda v: v.bob, lambda v, r: None))
    add("row-group-gone", "R32", "get", tables=rec_row(lambda v: v.group, lambda v, r: None))
    add("row-table-empty", "R32", "get", tables=lambda v: setattr(v, "rec", []))
    add("row-aside-gone", "R32", "list", tables=rec_row(lambda v: v.eve, lambda v, r: None))
    add("row-other-id", "R32", "get", tables=rec_row(lambda v: v.bob, lambda v, r: (bytes(15) + b"\1",) + r[1:]))
    add("row-gone-depth-2", "R32", "get", options=d2, tables=rec_row(lambda v: v.bob, lambda v, r: None))
    add("row-id-as-text", "R32", "get", tables=rec_row(lambda v: v.bob, lambda v, r: ("x" * 16,) + r[1:]))

    # R33
    for column, name, ends in ((1, "grp", (0, 15)), (2, "m", (0, 1, 4, 8, 15)), (3, "a", (0, 24, 40, -1)),
                               (4, "d", (0, 31)), (5, "s", (0, 24, 40, -1))):
        for at in ends:
            add(f"row-{name}-byte-{at if at >= 0 else 'last'}", "R52" if name == "s" else "R33", "get",
                tables=rec_row(lambda v: v.bob, flip(column, at)))
    add("row-group-byte", "R33", "get", tables=rec_row(lambda v: v.group, flip(3, 50)))
    add("row-group-secret-byte", "R52", "get", tables=rec_row(lambda v: v.group, flip(5, 50)))
    add("row-aside-secret-byte", "R52", "verify", tables=rec_row(lambda v: v.eve, flip(5, 50)))
    add("row-former-secret-byte", "R52", "verify", records=lambda v: (
        v.put_former(1), v.name_former((v.bob, 1, 9))), tables=lambda v: setattr(
        v, "rec", [flip(5, 50)(v, row) if row[0][0] >= 0x80 else row for row in v.rec]))
    add("row-rule-hidden", "R32", "verify", records=lambda v: v.put_rule(grant()), tables=rec_row(
        lambda v: f.rule_id(v.keys.sys, grant()), lambda v, r: None))
    add("row-digest-of-other-secret", "R52", "get", records=lambda v: v.records.update(
        {v.bob: (*v.records[v.bob][:3], f.HASH(b"other"), v.records[v.bob][4])}))
    add("row-digest-and-secret", "R33", "get", tables=rec_row(lambda v: v.bob, lambda v, r: r[:4] + v.records[v.eve][3:]))
    add("row-aside-byte", "R33", "list", tables=rec_row(lambda v: v.eve, flip(3, 50)))
    add("row-other-group-byte", "R33", "list", tables=rec_row(
        lambda v: f.item_id(v.groups["work"].ik, v.generic("bob", "github")), flip(1, 0)))
    add("row-moved-to-group", "R33", "get", tables=rec_row(
        lambda v: v.bob, lambda v, r: (r[0], v.groups["work"].gid) + r[2:]))
    add("row-fields-exchanged", "R33", "get", tables=rec_row(lambda v: v.bob, lambda v, r: r[:3] + (r[5], r[4], r[3])))
    add("row-secret-emptied", "R33", "get", tables=rec_row(lambda v: v.bob, lambda v, r: r[:5] + (b"",)))
    add("row-byte-between-fields", "R33", "get", tables=rec_row(
        lambda v: v.bob, lambda v, r: r[:3] + (r[3] + r[5][:1], r[4], r[5][1:])))
    add("row-secret-of-other", "R52", "get", tables=rec_row(
        lambda v: v.bob, lambda v, r: r[:5] + (v.records[v.eve][4],)))
    add("row-exchanged", "R33", "get", tables=lambda v: setattr(v, "rec", [
        ({v.bob: v.eve, v.eve: v.bob}.get(r[0], r[0]),) + r[1:] for r in v.rec]))
    add("row-other-vault", "R33", "get", tables=rec_row(
        lambda v: v.bob, lambda v, r: (r[0],) + _other(v).records[_other(v).bob]))
    add("row-replayed", "R33", "get", tables=_replayed)
    add("row-leaf-zero", "R33", "get", leaves=lambda v: v.leaves.update({v.bob: bytes(32)}))
    add("row-leaves-exchanged", "R33", "get", leaves=lambda v: v.leaves.update(
        {v.bob: v.leaves[v.eve], v.eve: v.leaves[v.bob]}))

    add("row-deleted-in-wal", "R32", "get",
        after=lambda v, path: in_wal(path, ["DELETE FROM rec WHERE id=x'%s'" % v.bob.hex()]))
    add("row-changed-in-wal", "R52", "get",
        after=lambda v, path: in_wal(path, ["UPDATE rec SET s=zeroblob(168) WHERE id=x'%s'" % v.bob.hex()]))

    add("row-changed-by-journal", "R52", "get", after=lambda v, path: (
        run_sql(path, ["UPDATE rec SET s=zeroblob(168) WHERE id=x'%s'" % v.bob.hex()]),
        hot_journal(path, ["UPDATE rec SET s=x'%s' WHERE id=x'%s'" % (v.records[v.bob][4].hex(), v.bob.hex())])))

    # R45 to R47
    def count(n):
        return lambda v: v.header.__dict__.update(count=v.header.count + n)
    add("verify-count-above", "R45", "verify", header=count(1))
    add("verify-count-below", "R45", "verify", header=count(-1))
    add("verify-count-zero", "R45", "verify", header=lambda v: v.header.__dict__.update(count=0))
    add("verify-count-depth-2", "R45", "verify", options=d2, header=count(1))
    add("verify-row-unlisted", "R46", "verify", tables=lambda v: v.rec.append((bytes(16),) + v.records[v.bob]))
    add("verify-row-unlisted-group", "R46", "verify", tables=lambda v: v.rec.append((b"\xff" * 16,) + v.records[v.group]))
    add("verify-row-unlisted-deleted", "R46", "verify", options=d1, leaves=lambda v: v.leaves.pop(v.eve))
    add("verify-node-unlisted", "R47", "verify", options=d1, tables=lambda v: v.node.append(
        (next(bytes([i]) for i in range(256) if bytes([i]) not in dict(v.node)), v.node[0][1])))
    add("verify-node-below", "R47", "verify", tables=lambda v: v.node.append((b"\0", b"")))
    add("verify-node-longer-key", "R47", "verify", options=d1, tables=lambda v: v.node.append((v.bob[:2], v.node[0][1])))
    add("verify-node-long-key", "R47", "verify", options=d2, tables=lambda v: v.node.append((bytes(300), b"")))


_others = {}


def _other(v):
    """A second vault that the same key file opens."""
    if v.name not in _others:
        other = _others[v.name] = Forge(v.name + " other", depth=v.depth)
        other.make_leaves()
        nodes, root = other.tree()
        other.node = list(nodes.items())
        other.header.root_digest, other.header.count, other.header.slots = root, len(other.leaves), 1
        other.slots_digest()
        other.header.sign(other.keys.hdr)
        other.hdr = [(0, other.header.pack()), *other.slots.items(), (9, other.ring)]
    return _others[v.name]


def _replayed(v):
    """The row as an earlier generation wrote it."""
    v.put_item(ver=3, s=b"former secret")
    v.rec = [(r[0],) + v.records[r[0]] for r in v.rec]
