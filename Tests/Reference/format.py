"""Byte layouts and keyed functions of the vault file. Section numbers refer to Vault/FORMAT.md."""
import hashlib
import hmac
import struct

import sodium

RULES = {
    "R1": "notAVault", "R2": "notAVault", "R3": "newerFormat", "R4": "storageDamaged", "R5": "schemaAltered",
    "R6": "columnMismatch", "R7": "headerMalformed", "R8": "headerMalformed", "R9": "newerFormat",
    "R10": "unknownIncompatibleFlag", "R11": "unknownReadOnlyFlag", "R12": "headerMalformed",
    "R13": "slotMalformed", "R14": "unknownSlotType", "R15": "slotMalformed", "R16": "kdfBelowFloor",
    "R17": "kdfAboveCeiling", "R18": "wrongCredential", "R19": "slotDamaged", "R20": "headerForged",
    "R21": "slotsForged", "R22": "slotsForged", "R23": "anchorDamaged", "R24": "anchorOtherVault",
    "R25": "rolledBack", "R26": "forked", "R27": "forked", "R28": "nodeMissing", "R29": "nodeMalformed",
    "R30": "nodeForged", "R31": "nodeMalformed", "R32": "recordMissing", "R33": "recordForged",
    "R34": "recordMalformed", "R35": "recordMalformed", "R36": "recordMalformed", "R37": "unknownGroup",
    "R38": "sealBroken", "R39": "paddingNotCanonical", "R40": "attributesMalformed",
    "R41": "attributesMalformed", "R42": "groupMalformed", "R43": "groupMalformed",
    "R44": "identifierMismatch", "R45": "countMismatch", "R46": "recordUnlisted", "R47": "nodeUnlisted", "R48": "wrongDeviceKey",
    "R49": "noSuchSlot", "R50": "accessRuleMalformed", "R51": "recordMalformed", "R52": "recordForged", "R53": "migrationNeeded",
    "R54": "nameNotAllowed", "R55": "nameTooLong", "R56": "attributesMalformed", "R57": "historyMissing",
    "R58": "historyUnlisted", "R59": "policyMalformed", "R60": "anchorOtherKeys",
}


class Refused(Exception):
    """The file must not be believed: an error name and a rule of section 15."""

    def __init__(self, code, rule, detail=""):
        super().__init__(f"{code} {rule} {detail}".strip())
        self.code, self.rule, self.detail = code, rule, detail


class InputError(Exception):
    """The request is wrong, not the file."""


class NotFound(InputError):
    pass


def refuse(rule, detail=""):
    raise Refused(RULES[rule], rule, detail)


# 1 Notation

ZERO16 = bytes(16)
MAX_MESSAGE = 1_048_576
MAX_BOX = 1_052_712
MAX_RECORDS = 16_777_216


def u8(n):
    return bytes((n,))


def u16(n):
    return n.to_bytes(2, "little")


def u32(n):
    return n.to_bytes(4, "little")


def u64(n):
    return n.to_bytes(8, "little")


def HASH(m):
    return hashlib.blake2b(m, digest_size=32).digest()


def H(k, m):
    return hashlib.blake2b(m, digest_size=32, key=k).digest()


def KDF(k, label, ctx):
    return H(k, b"coffer/v1/" + label.encode() + b"\0" + ctx)


same = hmac.compare_digest


def padded_size(length):
    size = 128
    while size <= length:
        size = size * 2 if size < 4096 else (length // 4096 + 1) * 4096
    return size


def PAD(m):
    return m + b"\x80" + bytes(padded_size(len(m)) - len(m) - 1)


def unpad(padded):
    m = padded.rstrip(b"\0")
    if not m.endswith(b"\x80"):
        refuse("R39", "no mark")
    m = m[:-1]
    if len(m) > MAX_MESSAGE or padded_size(len(m)) != len(padded):
        refuse("R39", "padded size")
    return m


def is_box_length(length):
    size = length - 40
    return 168 <= length <= MAX_BOX and size == padded_size(size - 1)


def seal(key, m, nonce):
    return nonce + sodium.secretbox(PAD(m), nonce, key)


def unseal(key, box, what="", rule="R38"):
    """Opens a box without looking at its padding."""
    padded = sodium.secretbox_open(box[24:], box[:24], key)
    if padded is None:
        refuse(rule, what)
    return padded


# 3.2 Schema

SCHEMA = {
    ("table", "hdr", "hdr", "CREATE TABLE hdr(k INTEGER PRIMARY KEY,v BLOB NOT NULL)"),
    ("table", "node", "node", "CREATE TABLE node(p BLOB PRIMARY KEY,b BLOB NOT NULL) WITHOUT ROWID"),
    ("table", "rec", "rec", "CREATE TABLE rec(id BLOB PRIMARY KEY,grp BLOB NOT NULL,m BLOB NOT NULL,"
                            "a BLOB NOT NULL,d BLOB NOT NULL,s BLOB NOT NULL) WITHOUT ROWID"),
}
APPLICATION_ID = 0x43465632
MAX_NODE = 196_608


def hdr_limit(k):
    return 256 if k == 0 else 2048 if k == 9 else 4256


def check_first_bytes(b):
    """Section 3.1; b is the file's first 100 bytes."""
    if len(b) < 100:
        refuse("R1")
    if b[0:16] != b"SQLite format 3\0" or b[16:18] != b"\x10\0":
        refuse("R2")
    if b[68:72] != b"CFV2":
        refuse("R53" if b[68:72] == b"CFV1" else "R2")
    version = int.from_bytes(b[60:64], "big")
    if version != 1:
        refuse("R3" if version > 1 else "R2")


# 4 Header

class Header:
    LAYOUT = struct.Struct("<8sHHIII16sQQQII8s32s32s32s48s32s")
    FIELDS = ("magic", "major", "minor", "incompatible", "read_only", "depth", "vid", "generation", "count",
              "created", "epoch", "slots", "zero1", "slots_digest", "root_digest", "previous", "zero2", "mac")

    def __init__(self, **values):
        defaults = dict(magic=b"CofferV1", major=1, minor=0, incompatible=0, read_only=0, depth=0,
                        vid=ZERO16, generation=1, count=0, created=0, epoch=1, slots=1, zero1=bytes(8),
                        slots_digest=bytes(32), root_digest=bytes(32), previous=bytes(32), zero2=bytes(48),
                        mac=bytes(32))
        self.__dict__.update({**defaults, **values})

    def pack(self):
        return self.LAYOUT.pack(*(getattr(self, f) for f in self.FIELDS))

    def sign(self, k_hdr):
        self.mac = KDF(k_hdr, "hdr-mac", self.pack()[:224])
        return self

    def check_mac(self, k_hdr):
        if not same(self.mac, KDF(k_hdr, "hdr-mac", self.pack()[:224])):
            refuse("R20")

    @classmethod
    def parse(cls, b):
        """Length and constants, in the order of the layout."""
        if len(b) != 256:
            refuse("R7", "length")
        h = cls(**dict(zip(cls.FIELDS, cls.LAYOUT.unpack(b))))
        if h.magic != b"CofferV1" or h.major == 0:
            refuse("R8")
        if h.major > 1:
            refuse("R9")
        if h.incompatible:
            refuse("R10")
        if (h.depth > 2 or h.generation == 0 or h.count > MAX_RECORDS or h.epoch == 0
                or not 1 <= h.slots <= 8 or any(h.zero1) or any(h.zero2)):
            refuse("R12")
        return h


class MasterKeys:
    def __init__(self, mk, vid):
        self.mk, self.vid = mk, vid
        self.hdr = KDF(mk, "hdr", vid)
        self.tree = KDF(mk, "records", vid)
        self.sys = KDF(mk, "sysgroup", vid)


def slots_digest(k_hdr, vid, rows):
    """rows: {k: bytes} of all rows 1 to 9."""
    ctx = vid + b"".join(u32(k) + u32(len(rows[k])) + rows[k] for k in sorted(rows) if k)
    return KDF(k_hdr, "slots", ctx)


def ring_length(generation):
    return min(64, generation - 1)


def check_slots_and_ring(keys, header, rows):
    """Section 4.3; rows: {k: bytes} of rows 1 to 9."""
    if not same(header.slots_digest, slots_digest(keys.hdr, keys.vid, rows)):
        refuse("R21", "digest")
    if sum(1 for k in rows if 1 <= k <= 8) != header.slots:
        refuse("R21", "count")
    if header.generation == 1:
        if 9 in rows or any(header.previous):
            refuse("R22", "generation 1")
        return
    ring = rows.get(9)
    if ring is None or len(ring) != 32 * ring_length(header.generation):
        refuse("R22", "length")
    if not same(ring[-32:], header.previous):
        refuse("R22", "last entry")


# 11 Anchors

def make_anchor(keys, header):
    body = b"CofferA1" + keys.vid + u64(header.generation) + header.mac
    return body + KDF(keys.hdr, "anchor", body)


def check_anchor(anchor, keys, header, ring):
    """True if the descent is proven (or nothing was to compare), False if it could not be checked."""
    if not anchor:
        return True
    if len(anchor) not in (96, 192):
        refuse("R23")
    for one in (anchor[:96], anchor[96:]):
        # While the master key is renewed there are two: of the state before, and of the one that follows.
        if one[:8] != b"CofferA1":
            refuse("R23")
        if one[8:24] != keys.vid:
            refuse("R24")
        if same(one[64:], KDF(keys.hdr, "anchor", one[:64])):
            break
        if len(anchor) == 96:
            refuse("R60", "MAC")
    else:
        refuse("R60", "MAC")
    then, mac = int.from_bytes(one[24:32], "little"), one[32:64]
    now, n = header.generation, ring_length(header.generation)
    if now < then:
        refuse("R25")
    if now == then:
        if not same(mac, header.mac):
            refuse("R26")
        return True
    if now - then > n:
        return False
    index = then - (now - n)
    if not same(ring[32 * index:32 * index + 32], mac):
        refuse("R27")
    return True
