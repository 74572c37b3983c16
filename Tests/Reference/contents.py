"""Attribute lists, group records, items and the digests of the tree (sections 7 to 9)."""
import base64
import hashlib
import re

from format import KDF, MAX_MESSAGE, refuse, u8, u16, u32, u64

TEXT, DATA, INTEGER, TIME = 1, 2, 3, 4
TYPE_NAMES = {TEXT: "text", DATA: "data", INTEGER: "integer", TIME: "time"}
MAX_VALUE = 65_536

KIND_ITEM, KIND_GROUP, KIND_RULE, KIND_POLICY, KIND_FORMER = 1, 2, 3, 5, 6
SYSTEM_KINDS = (2, 3, 4, 5)
DEVICE_CLASSES = (3, 4, 5)

PRIMARY = {
    1: {"account": TEXT, "service": TEXT},
    2: {"account": TEXT, "authentication-type": TEXT, "path": TEXT, "port": INTEGER, "protocol": TEXT,
        "security-domain": TEXT, "server": TEXT},
    3: {"application-label": DATA, "application-tag": DATA, "creator": INTEGER, "effective-key-size": INTEGER,
        "end-date": TIME, "key-class": TEXT, "key-size": INTEGER, "key-type": TEXT, "start-date": TIME},
    4: {"certificate-type": INTEGER, "issuer": DATA, "serial-number": DATA},
    5: {"title": TEXT},
}
ITEM_TYPES = {"class": INTEGER, "label": TEXT, "comment": TEXT, "content-type": TEXT, "install-bound": TEXT, "confirm": INTEGER,
              "created": TIME, "modified": TIME}
EMPTY = {TEXT: "", DATA: b"", INTEGER: 0, TIME: 0}


# 8.1 Attribute list; in memory {name: (type, value)}

def has_control(name):
    return any(b < 0x20 or b == 0x7F for b in name)


def value_bytes(type_, value):
    if type_ == TEXT:
        return value.encode("utf-8")
    if type_ == DATA:
        return bytes(value)
    return value.to_bytes(8, "little", signed=type_ == TIME)


def entry(type_, name, value):
    """One entry from bytes, whatever they are."""
    return u8(type_) + u16(len(name)) + name + u32(len(value)) + value


def pack_list(attributes):
    named = sorted((name.encode("utf-8"), t, v) for name, (t, v) in attributes.items())
    return b"".join(entry(t, name, value_bytes(t, v)) for name, t, v in named)


def parse_list(b):
    if len(b) > MAX_MESSAGE:
        refuse("R40", "too long")
    out, at, last = {}, 0, None
    try:
        while at < len(b):
            if len(b) - at < 3:
                refuse("R40", "truncated")
            type_, n = b[at], int.from_bytes(b[at + 1:at + 3], "little")
            name = b[at + 3:at + 3 + n]
            at += 3 + n
            if type_ not in TYPE_NAMES:
                refuse("R40", "type")
            if len(b) - at < 4:
                refuse("R40", "truncated")
            if not 1 <= n <= 255 or has_control(name):
                refuse("R40", "name")
            if last is not None and name <= last:
                refuse("R40", "order")
            last = name
            n = int.from_bytes(b[at:at + 4], "little")
            value = b[at + 4:at + 4 + n]
            at += 4 + n
            if at > len(b):
                refuse("R40", "truncated")
            if n != 8 if type_ in (INTEGER, TIME) else n > MAX_VALUE:
                refuse("R40", "length")
            if type_ == TEXT:
                value = value.decode("utf-8")
            elif type_ != DATA:
                value = int.from_bytes(value, "little", signed=type_ == TIME)
            out[name.decode("utf-8")] = (type_, value)
    except UnicodeDecodeError:
        refuse("R40", "UTF-8")
    return out


# 7 Records

def pack_m(kind, cls, epoch, ver, flags=0):
    return u8(kind) + u8(cls) + u16(flags) + u32(epoch) + u64(ver)


def parse_m(m):
    """kind, class, flags, epoch, ver"""
    return (m[0], m[1], int.from_bytes(m[2:4], "little"), int.from_bytes(m[4:8], "little"),
            int.from_bytes(m[8:16], "little"))


def check_m(m, grp, generation, master_epoch):
    kind, cls, flags, epoch, ver = parse_m(m)
    if not 1 <= kind <= 6 or not 1 <= cls <= 5 or flags or not epoch or not 1 <= ver <= generation:
        refuse("R34")
    if kind in SYSTEM_KINDS:
        if any(grp) or cls != 1 or epoch != master_epoch:
            refuse("R35", "system record")
    elif kind == KIND_ITEM and not any(grp):
        refuse("R35", "item")


def system_id(digest):
    """The id of a record of kinds 2 to 5."""
    return b"\0" + digest[:15]


def id_fits(id_, kind):
    """Whether the first byte of the id is one of the kind."""
    first = id_[0]
    return first == 0 if kind in SYSTEM_KINDS else 0x01 <= first <= 0x7F if kind == KIND_ITEM else first >= 0x80


def record_key(gk, vid, id_, grp, m, field):
    return KDF(gk, "rec", vid + id_ + grp + m + u8(field))


# 8.2 Group record

def group_id(k_sys, name):
    return system_id(KDF(k_sys, "group-id", name.encode("utf-8")))


def pack_group(gid, ik, entries, marked=()):
    """entries: {(class, epoch): key or box}; marked: the keys that are being replaced"""
    return gid + ik + u8(len(entries)) + b"".join(
        u8(c) + u8((c, e) in marked) + bytes(2) + u32(e) + key for (c, e), key in sorted(entries.items()))


def check_group_attributes(attributes):
    name = attributes.get("name")
    if name is None or name[0] != TEXT:
        refuse("R42", "name")
    raw = name[1].encode("utf-8")
    if not 1 <= len(raw) <= 255 or has_control(raw):
        refuse("R42", "name")
    if attributes.get("created", (0,))[0] != TIME:
        refuse("R42", "created")
    return name[1]


def parse_group(b):
    """gid, IK, {(class, epoch): key or box}, {(class, epoch)} that are marked"""
    if len(b) < 49 or not b[48] or not any(b[:16]):
        refuse("R43", "start")
    entries, marked, at, last = {}, set(), 49, (0, 0)
    for _ in range(b[48]):
        if len(b) - at < 8:
            refuse("R43", "length")
        cls, epoch = b[at], int.from_bytes(b[at + 4:at + 8], "little")
        if b[at + 1] > 1 or any(b[at + 2:at + 4]) or not 1 <= cls <= 5 or not epoch or (cls, epoch) <= last:
            refuse("R43", "entry")
        last = (cls, epoch)
        size = 168 if cls in DEVICE_CLASSES else 32
        entries[last] = b[at + 8:at + 8 + size]
        if b[at + 1]:
            marked.add(last)
        at += 8 + size
        if at > len(b):
            refuse("R43", "length")
    if at != len(b):
        refuse("R43", "length")
    return b[:16], b[16:48], entries, marked


def device_box_key(device_key, vid, gid, cls, epoch):
    return KDF(device_key, "device", vid + gid + u8(cls) + u32(epoch))


# 8.7 Access rules, 8.8 names of teams

RULES_OF_ACCESS = {
    "pin": ({"team-key": DATA, "identifier": TEXT, "name": TEXT, "version": INTEGER, "installed": TIME}, {"removed": TIME}),
    "grant": ({"application": TEXT, "group": TEXT, "rights": INTEGER, "confirm": INTEGER, "created": TIME}, {}),
}


def team_name(key):
    return base64.b32encode(hashlib.blake2b(key, digest_size=20).digest()).decode().lower()


def is_app_identifier(text):
    part = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
    return len(text) <= 155 and re.fullmatch(rf"{part}(?:\.{part})+", text) is not None


def check_rule(attributes, secret):
    """The name of the rule; None for one of a later version."""
    t, rule = attributes.get("rule", (0, None))
    if t != TEXT:
        refuse("R50", "rule")
    if rule not in RULES_OF_ACCESS:
        return None
    needed, allowed = RULES_OF_ACCESS[rule]
    for name, t in {**needed, **allowed}.items():
        if name in attributes and attributes[name][0] != t or name in needed and name not in attributes:
            refuse("R50", name)
    if secret:
        refuse("R50", "secret")
    value = {name: v for name, (_, v) in attributes.items()}
    if rule == "pin" and (len(value["team-key"]) != 32 or not is_app_identifier(value["identifier"])):
        refuse("R50", "pin")
    if rule == "grant":
        group = value["group"].encode("utf-8")
        if not 1 <= len(group) <= 255 or has_control(group) or value["rights"] > 7 or value["confirm"] > 1:
            refuse("R50", "grant")
    return rule


def rule_id(k_sys, attributes):
    """Of a rule that has been checked."""
    value = {name: v for name, (_, v) in attributes.items()}
    counted = lambda text: u32(len(text.encode("utf-8"))) + text.encode("utf-8")    # noqa: E731
    if value["rule"] == "pin":
        return system_id(KDF(k_sys, "pin-id", counted(f"{team_name(value['team-key'])}.{value['identifier']}")))
    return system_id(KDF(k_sys, "grant-id", counted(value["application"]) + counted(value["group"])))


# 8.4 to 8.6 Items

def primary_list(attributes):
    """Item class and P. The attributes must have been checked."""
    cls = attributes["class"][1]
    return cls, pack_list({name: (t, attributes.get(name, (t, EMPTY[t]))[1]) for name, t in PRIMARY[cls].items()})


def item_id(ik, attributes):
    cls, p = primary_list(attributes)
    digest = KDF(ik, "item-id", u8(cls) + p)
    return u8(1 + digest[0] % 127) + digest[1:16]


def check_item_attributes(attributes):
    t, cls = attributes.get("class", (0, 0))
    if t != INTEGER or cls not in PRIMARY:
        refuse("R41", "class")
    for name, t in ITEM_TYPES.items():
        if attributes.get(name, (t,))[0] != t:
            refuse("R41", name)
    for name, t in PRIMARY[cls].items():
        if name in attributes and (attributes[name][0] != t or attributes[name][1] == EMPTY[t]):
            refuse("R41", name)
    return cls


def check_limits(attributes):
    """Those that bind writers alone."""
    for name, t in PRIMARY[attributes["class"][1]].items():
        text = attributes.get(name, (t, EMPTY[t]))[1]
        if t == TEXT and has_control(text.encode()):
            refuse("R54", name)
        if t == TEXT and len(text.encode()) > 1024:
            refuse("R55", name)


# 8.9 Former versions

MAX_FORMER, HEAD = 64, 2**64 - 1


def former_id(ik, origin, version):
    digest = KDF(ik, "history-id", origin + u64(version))
    return u8(digest[0] | 0x80) + digest[1:16]


def pack_former(entries):
    """entries: [(origin, version, replaced)], newest first"""
    return b"".join(o + u64(v) + r.to_bytes(8, "little", signed=True) for o, v, r in entries)


def parse_former(b):
    entries = [(b[at:at + 16], int.from_bytes(b[at + 16:at + 24], "little"),
                int.from_bytes(b[at + 24:at + 32], "little", signed=True)) for at in range(0, len(b), 32)]
    keys = [(r, v, o) for o, v, r in entries]
    if len(b) % 32 or not 1 <= len(entries) <= MAX_FORMER or any(x <= y for x, y in zip(keys, keys[1:])):
        refuse("R56", "former")
    return entries


def take_history(attributes, of_item):
    """Takes the names of 8.9 out of a list: (former, version, origin, time, whether it is a head)."""
    def take(name, type_):
        t, value = attributes.pop(name, (type_, None))
        if t != type_:
            refuse("R56", name)
        return value

    former, version = take("former", DATA), take("origin-version", INTEGER)
    former = [] if former is None else parse_former(former)
    if of_item:
        return former, version, None, None, False
    origin, replaced, deleted = take("origin", DATA), take("replaced", TIME), take("deleted", TIME)
    if origin is None or len(origin) != 16 or version is None or (replaced is None) == (deleted is None) \
            or former and deleted is None:
        refuse("R56", "former version")
    return former, version, origin, deleted if replaced is None else replaced, replaced is None


# 8.10 Policies

LIMITS = {"history-versions": (0, 64), "history-days": (0, 3650), "kdf-passes": (3, 64), "kdf-memory": (65_536, 4_194_304),
          "idle-minutes": (0, 10_080)}


def policy_id(k_sys, policy, key=""):
    counted = lambda text: u32(len(text.encode("utf-8"))) + text.encode("utf-8")    # noqa: E731
    return system_id(KDF(k_sys, "policy-id", counted(policy) + counted(key)))


def check_policy(attributes, secret):
    """The name of the policy; None for one of a later version."""
    t, policy = attributes.get("policy", (0, None))
    if t != TEXT:
        refuse("R59", "policy")
    if policy != "limits":
        return None
    for name, (low, high) in LIMITS.items():
        t, value = attributes.get(name, (INTEGER, low))
        if t != INTEGER or not low <= value <= high:
            refuse("R59", name)
    if secret:
        refuse("R59", "secret")
    return policy


# 9 Tree

MAX_LEAVES, GROWING_LEAVES = 4096, 2048


def leaf_digest(k_tree, vid, id_, grp, m, a, d, s):
    """Of s only the length counts; d stands for the rest."""
    return KDF(k_tree, "leaf", vid + id_ + grp + m + u32(len(a)) + a + u32(len(s)) + d)


def node_digest(k_tree, vid, depth, p, body):
    return KDF(k_tree, "node", vid + u8(depth) + u8(len(p)) + p + body)


def node_limit(depth, level):
    return 48 * MAX_LEAVES if level == depth else 33 * 256


def parse_node(depth, p, body, count):
    """{id or byte: digest}; the digest of the body must have been checked. count is N of the header."""
    size, key = (48, 16) if len(p) == depth else (33, 1)
    if len(body) % size or (not body and (p or count)):
        refuse("R31", p.hex())
    out, last = {}, b""
    for at in range(0, len(body), size):
        k = body[at:at + key]
        if k <= last or (key == 16 and not k.startswith(p)):
            refuse("R31", p.hex())
        out[k] = body[at + key:at + size]
        last = k
    return out


def pack_node(entries):
    return b"".join(k + entries[k] for k in sorted(entries))


def build_tree(k_tree, vid, depth, leaves):
    """All bodies {p: body} and the root digest, for {id: leaf}."""
    level = {}
    for id_, leaf in leaves.items():
        level.setdefault(id_[:depth], {})[id_] = leaf
    if not leaves:
        level[b""] = {}
        if depth:
            return {b"": b""}, node_digest(k_tree, vid, depth, b"", b"")
    nodes = {}
    for d in range(depth, -1, -1):
        above = {}
        for p, entries in level.items():
            nodes[p] = pack_node(entries)
            digest = node_digest(k_tree, vid, depth, p, nodes[p])
            if d:
                above.setdefault(p[:-1], {})[p[-1:]] = digest
        level = above
    return nodes, digest
