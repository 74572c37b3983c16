"""Opening a vault: file, credential, slots, header, ring, anchor; what follows is in snapshot.py."""
import contextlib
import os
import sqlite3
import urllib.parse
from dataclasses import dataclass

import format as f
import slots
import sodium
from format import refuse
from snapshot import Snapshot


@dataclass
class Credential:
    """What the user has. A passphrase together with a key file fits slots of type 4 only."""
    passphrase: bytes = None
    key_file: bytes = None
    recovery: bytes = None
    external: object = None     # function from ext to 32 bytes or None

    def type(self):
        if self.external:
            return slots.TYPE_EXTERNAL
        if self.recovery:
            return slots.TYPE_RECOVERY
        if self.passphrase is not None:
            return slots.TYPE_PASSPHRASE if self.key_file is None else slots.TYPE_BOTH
        if self.key_file is None:
            raise f.InputError("a credential is needed")
        return slots.TYPE_KEY_FILE

    def ikm(self, salt, t, m, ext, creating=False):
        kind = self.type()
        if kind == slots.TYPE_EXTERNAL:
            return self.external(ext)
        if kind == slots.TYPE_RECOVERY:
            return self.recovery
        if kind == slots.TYPE_KEY_FILE:
            return slots.key_file_ikm(self.key_file)
        ikm = sodium.argon2id(slots.normal_passphrase(self.passphrase, creating), salt, t, m)
        return ikm if kind == slots.TYPE_PASSPHRASE else f.H(ikm, slots.key_file_ikm(self.key_file))


@contextlib.contextmanager
def damage():
    """What SQLite reports as corruption is storageDamaged."""
    try:
        yield
    except sqlite3.DatabaseError as e:
        if (getattr(e, "sqlite_errorcode", None) or 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            refuse("R5" if str(e).startswith("malformed database schema") else "R4", str(e))
        raise


def connect(path):
    con = sqlite3.connect("file:" + urllib.parse.quote(os.path.abspath(path)) + "?mode=rw", uri=True,
                          isolation_level=None, timeout=10)
    con.text_factory = bytes
    con.execute("PRAGMA trusted_schema=OFF")
    con.execute("PRAGMA cell_size_check=ON")
    con.execute("PRAGMA mmap_size=0")
    con.execute("PRAGMA secure_delete=ON")
    return con


def memory_ceiling():
    return min(slots.CEILING_MEMORY, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 1024 // 2)


def try_slots(credential, vid, checked, ceiling=None):
    """MK; checked: {k: Slot}."""
    t_max, m_max = ceiling or (slots.CEILING_PASSES, memory_ceiling())
    fitting = [k for k in sorted(checked) if checked[k].type == credential.type()]
    if not fitting:
        refuse("R49")
    too_expensive = None
    for k in fitting:
        slot = checked[k]
        if slot.kdf and (slot.t > t_max or slot.m > m_max):
            too_expensive = k
            continue
        ikm = credential.ikm(slot.salt, slot.t, slot.m, slot.ext)
        if ikm is None:
            continue
        kek, commitment = slots.slot_keys(ikm, vid, slot.row[:56], slot.ext)
        if f.same(commitment, slot.commitment):
            mk = sodium.secretbox_open(slot.box[24:], slot.box[:24], kek)
            if mk is None:
                refuse("R19", f"slot {k}")
            return mk
    if too_expensive is not None:
        refuse("R17", f"slot {too_expensive}")
    refuse("R18")


class Vault:
    """An open vault. Every read happens in a Snapshot, that is, in one transaction."""

    def __init__(self, path, credential, device_key=None, anchor=None, ceiling=None):
        self.path, self.device_key = path, device_key
        with open(path, "rb") as file:
            f.check_first_bytes(file.read(100))
        with damage():
            self.con = connect(path)
        try:
            with self.transaction(keys=False) as snap:
                checked = {k: slots.check_slot(row) for k, row in sorted(snap.hdr_rows(1, 8).items())}
                self.keys = f.MasterKeys(try_slots(credential, snap.header.vid, checked, ceiling), snap.header.vid)
                snap.prove_header(self.keys)
                snap.prove_slots()
                self.descent_checked = f.check_anchor(anchor, self.keys, snap.header, snap.rows.get(9, b""))
        except BaseException:
            self.close()
            raise

    def close(self):
        self.con.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @contextlib.contextmanager
    def transaction(self, keys=True, kind=None, begin="BEGIN"):
        with damage():
            self.con.execute(begin)
            try:
                snap = (kind or Snapshot)(self)
                if keys:
                    snap.prove_header(self.keys)
                yield snap
                self.con.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    if self.con.in_transaction:
                        self.con.execute("ROLLBACK")
                raise

    read = transaction

    # Conveniences: each is one transaction.

    def anchor(self):
        with self.read() as snap:
            return f.make_anchor(self.keys, snap.header)

    def get(self, group, primary):
        with self.read() as snap:
            return snap.get(group, primary)

    def list(self, group):
        with self.read() as snap:
            return snap.list(group)

    def dump(self):
        with self.read() as snap:
            return snap.dump()

    def verify(self):
        with self.read() as snap:
            return snap.verify()
