#!/usr/bin/env python3
"""Tries all keys of an older state of a vault on a newer one: old_keys.py OLD NEW KEY-FILE. For tests of a rotation; see README.md.

Prints how many boxes of the newer file the old keys open, how many its own keys open, and how many of its boxes are bytes of the older
one. The newer file is searched as it lies on the disk, with its log, so that free pages count too."""
import os
import sqlite3
import sys

import coffer_format as f
import contents as c
import sodium


def boxes(path):
    """(id, grp, m, a, s) of each row."""
    con = sqlite3.connect(path)
    con.text_factory = bytes
    rows = con.execute("SELECT id,grp,m,a,s FROM rec").fetchall()
    con.close()
    return rows


def keys_of(vault):
    """The keys under which a record may be sealed."""
    groups, _ = vault.dump()
    return [vault.keys.sys] + [key for g in groups for key in g.keys.values() if len(key) == 32]


def opened(rows, vid, keys):
    return sum(
        sodium.secretbox_open(box[24:], box[:24], c.record_key(key, vid, id_, grp, m, field)) is not None
        for id_, grp, m, a, s in rows for field, box in ((1, a), (2, s)) for key in keys)


def raw(path):
    data = b""
    for name in (path, path + "-wal"):
        if os.path.exists(name):
            with open(name, "rb") as file:
                data += file.read()
    return data


def main():
    old_path, new_path, key_file = sys.argv[1:]
    with open(key_file, "rb") as file:
        credential = f.Credential(key_file=file.read())
    there = raw(new_path)
    with f.WritableVault(old_path, credential) as old, f.WritableVault(new_path, credential) as new:
        rows, vid = boxes(new_path), old.keys.vid
        past = sum(box[:32] in there for _, _, _, a, s in boxes(old_path) for box in (a, s))
        slots_open = 0
        try:
            with new.transaction(keys=False) as snap:
                snap.prove_header(old.keys)
                slots_open = 1
        except f.Refused:
            pass
        print(slots_open + opened(rows, vid, keys_of(old)), opened(rows, vid, keys_of(new)), past)
        print(*[str(p) for p in new.verify()] or ["sound"])


if __name__ == "__main__":
    main()
