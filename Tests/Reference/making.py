"""New files, slots, groups and sealed rows."""
import os
import sqlite3

import contents as c
import format as f
import slots
from snapshot import Group

DEFAULT_MEMORY = 262_144


def create_file(path):
    """A new SQLite file with the schema of section 3.2, never over an existing one."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    con = sqlite3.connect(path, isolation_level=None)
    con.execute("PRAGMA page_size=4096")
    con.execute("PRAGMA secure_delete=ON")
    return con


def create_schema(con):
    con.execute(f"PRAGMA application_id={f.APPLICATION_ID}")
    con.execute("PRAGMA user_version=1")
    for row in sorted(f.SCHEMA, reverse=True):
        con.execute(row[3])


def make_slot(credential, vid, mk, memory=DEFAULT_MEMORY, passes=slots.FLOOR_PASSES, ext=b"", random=os.urandom):
    """A row for the table hdr that gives MK to the credential."""
    kind = credential.type()
    derives = kind in (slots.TYPE_PASSPHRASE, slots.TYPE_BOTH)
    t, m = (passes, memory) if derives else (0, 0)
    if derives and (t < slots.FLOOR_PASSES or m < slots.FLOOR_MEMORY):
        raise f.InputError("parameters below the floor")
    head = slots.slot_head(kind, random(16), random(16), t, m, ext)
    ikm = credential.ikm(head[16:32], t, m, ext, creating=True)
    return slots.slot_row(ikm, vid, head, ext, random(24), mk)


def new_group(keys, name, created, random):
    attributes = {"name": (c.TEXT, name), "created": (c.TIME, created)}
    try:
        c.check_group_attributes(attributes)
    except f.Refused as e:
        raise f.InputError("not a name for a group") from e
    group_keys = {(1, 1): random(32), (2, 1): random(32)}
    return Group(c.group_id(keys.sys, name), name, attributes, random(16), random(32), group_keys, 0)


def seal_row(gk, vid, id_, grp, m, plain, random):
    boxes = [f.seal(c.record_key(gk, vid, id_, grp, m, field), text, random(24)) for field, text in enumerate(plain, 1)]
    a, s = boxes
    return grp, m, a, f.HASH(s), s


def seal_group(keys, group, epoch, generation, random):
    m = c.pack_m(c.KIND_GROUP, 1, epoch, generation)
    plain = c.pack_list(group.attributes), c.pack_group(group.gid, group.ik, group.keys, group.marked)
    return seal_row(keys.sys, keys.vid, group.id, f.ZERO16, m, plain, random)
