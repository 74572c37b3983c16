"""A reader of the log of a space, written from docs/sync-format.md alone. Section numbers refer to it."""
import coffer_format as f
import sodium
from contents import check_item_attributes, check_limits, has_control, parse_list, primary_list
from format import HASH, KDF, u8, u16, u32

ZERO32 = bytes(32)
MAX_ENTRY, MAX_INLINE, MAX_VALUE, MAX_LIVE, MAX_CONTENT = 524_288, 65_536, 1_048_576, 256, 491_520
OWNER, MEMBER, READER = 1, 2, 3
ITEM, SETTING = 1, 2
CONTENT, SECRET, LIFE = 1, 2, 3
LINKED = (1, 2, 3, 4, 8)
LOCAL = ("sync", "former", "origin", "origin-version", "replaced", "deleted", "created", "modified", "install-bound")


class Void(Exception):
    """The entry changes nothing, for this cause."""


class Halt(Exception):
    """The fold stops before the entry."""


# 1 Notation

def label_hash(label, m):
    return HASH(b"coffer/v1/" + label.encode() + b"\0" + m)


def tag(label, m):
    return label_hash(label, m)[:16]


def text(x):
    return u32(len(x)) + x


def chain_after(chain, entry):
    return label_hash("sync-chain", chain + entry[:MAX_ENTRY + 1])


def box_seal_open(key, box):
    if not f.is_box_length(len(box)):
        raise Void("seal")
    try:
        return f.unpad(f.unseal(key, box))
    except f.Refused:
        raise Void("seal") from None


class Reader:
    def __init__(self, b):
        self.b, self.at = b, 0

    def take(self, n):
        if n < 0 or n > len(self.b) - self.at:
            raise Void("form")
        self.at += n
        return self.b[self.at - n:self.at]

    def int(self, n, signed=False):
        return int.from_bytes(self.take(n), "little", signed=signed)

    def within(self, low, high):
        value = self.int(1)
        if not low <= value <= high:
            raise Void("form")
        return value

    def name(self, n, limit):
        raw = self.take(n)
        if not 1 <= n <= limit or has_control(raw):
            raise Void("form")
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError:
            raise Void("form") from None
        return raw

    def ascending(self, count):
        ids = [self.take(16) for _ in range(count)]
        if any(a >= b for a, b in zip(ids, ids[1:])):
            raise Void("form")
        return ids

    def end(self):
        if self.at != len(self.b):
            raise Void("form")


# 2 Devices

class Record:
    def __init__(self, sign, box, role, recovery, person, name):
        self.sign, self.box, self.role, self.recovery, self.person, self.name = sign, box, role, recovery, person, name
        self.id = tag("sync-device", sign + box)

    def pack(self):
        return (self.id + self.sign + self.box + u8(self.role) + u8(self.recovery) + text(self.person)
                + text(self.name))

    @classmethod
    def read(cls, r):
        id_, sign, box = r.take(16), r.take(32), r.take(32)
        role, recovery = r.within(1, 3), r.within(0, 1)
        person = r.name(r.int(4), 255)
        record = cls(sign, box, role, recovery, person, r.name(r.int(4), 255))
        if record.id != id_ or not sodium.box_key_is_usable(box):
            raise Void("form")
        return record


def space_of(record, random):
    return tag("sync-space", record.sign + record.box + random)


# 5 Operations

def item_content(b):
    r = Reader(b)
    r.within(1, 2)
    group = r.name(r.int(4), 255)
    if group.startswith(b"coffer."):
        raise Void("form")
    try:
        attributes = parse_list(b[r.at:])
        check_item_attributes(attributes)
        check_limits(attributes)
    except (f.Refused, f.InputError):
        raise Void("form") from None
    if any(name in attributes for name in LOCAL):
        raise Void("form")
    cls, primary = primary_list(attributes)
    return tag("sync-item", text(group) + u8(cls) + primary)


def setting_name(r):
    """The store and the key, which come before the value of a setting."""
    store = r.take(r.int(2))
    key = r.take(r.int(2))
    try:
        store.decode("utf-8"), key.decode("utf-8")
    except UnicodeDecodeError:
        raise Void("form") from None
    if not 1 <= len(store) <= 255 or not 1 <= len(key) <= 64 or has_control(store):
        raise Void("form")
    return store, key


def setting_content(b):
    r = Reader(b)
    store, key = setting_name(r)
    if r.at == len(b):
        raise Void("form")
    return store, key


class Value:
    """Bytes, or the name of an object with the length of its content."""

    def __init__(self, data=None, name=None, length=None, setting=None):
        """setting: the store and the key, for an object that is the value of a setting."""
        self.data, self.name, self.setting = data, name, setting
        self.length = len(data) if name is None else length

    def pack(self):
        if self.name is None:
            return u32(self.length) + self.data
        return u32(self.length | 1 << 31) + self.name + b"".join(u16(len(part)) + part for part in self.setting or ())

    @classmethod
    def read(cls, r, register, kind):
        word = r.int(4)
        length = word & 0x7FFFFFFF
        if word >> 31:
            name = r.take(32)
            setting = setting_name(r) if kind == SETTING and register == CONTENT else None
            whole = length + (4 + len(setting[0]) + len(setting[1]) if setting else 0)
            if register == LIFE or whole <= MAX_INLINE or length > (
                    MAX_CONTENT if register == CONTENT and kind == ITEM else MAX_VALUE):
                raise Void("form")
            return cls(name=name, length=length, setting=setting)
        if length > MAX_INLINE:
            raise Void("form")
        value = cls(r.take(length))
        if register == LIFE and value.data not in (b"\0", b"\1"):
            raise Void("form")
        return value


class Operation:
    def __init__(self, kind, author, tag_, modified, parts):
        """parts: (register, replaced dots, Value), ascending."""
        self.kind, self.author, self.tag, self.modified, self.parts = kind, author, tag_, modified, parts
        self.dot = tag("sync-dot", author + u8(kind) + tag_ + self.rest())

    def rest(self):
        out = self.modified.to_bytes(8, "little", signed=True) + u8(len(self.parts))
        for register, replaced, value in self.parts:
            out += u8(register) + u16(len(replaced)) + b"".join(replaced) + value.pack()
        return out

    def pack(self, sender):
        foreign = self.author != sender
        return (u8(self.kind | (128 if foreign else 0)) + (self.author if foreign else b"") + self.tag + self.dot
                + self.rest())

    @classmethod
    def read(cls, r, sender):
        kind = r.int(1)
        author = r.take(16) if kind & 128 else sender
        if kind & 127 not in (ITEM, SETTING) or kind & 128 and author == sender:
            raise Void("form")
        kind &= 127
        tag_, dot, modified = r.take(16), r.take(16), r.int(8, signed=True)
        parts = []
        for _ in range(r.within(1, 3)):
            register = r.within(1, 3)
            if kind == SETTING and register == SECRET or parts and parts[-1][0] >= register:
                raise Void("form")
            replaced = r.ascending(r.int(2))
            parts.append((register, replaced, Value.read(r, register, kind)))
        operation = cls(kind, author, tag_, modified, parts)
        if operation.dot != dot:
            raise Void("form")
        return operation


# 5.3 Fold

class Entity:
    def __init__(self):
        self.live = {CONTENT: {}, SECRET: {}, LIFE: {}}     # register: {dot: [modified, Value, generation]}
        self.gone = {}                                      # (dot, register): [generation, folded]

    def copy(self):
        other = Entity()
        other.live = {register: dict(writes) for register, writes in self.live.items()}
        other.gone = {key: list(mark) for key, mark in self.gone.items()}
        return other

    def knows(self, dot):
        return any(dot in writes for writes in self.live.values()) or any(
            d == dot and folded for (d, _), (_, folded) in self.gone.items())

    def exists(self):
        return any(value.data == b"\1" for _, value, _ in self.live[LIFE].values())

    def apply(self, operation, generation):
        for register, replaced, value in operation.parts:
            for dot in replaced:
                was_live = self.live[register].pop(dot, None) is not None
                self.gone.setdefault((dot, register), [generation, was_live])
            if (operation.dot, register) in self.gone:
                self.gone[operation.dot, register][1] = True
            else:
                writes = self.live[register]
                writes[operation.dot] = [operation.modified, value, generation]
                if len(writes) > MAX_LIVE:
                    least = min(writes, key=lambda dot: (writes[dot][0], dot))
                    del writes[least]
                    self.gone[least, register] = [generation, True]

    def usage(self):
        """Of a setting: whether it has a value, and the bytes of that."""
        alive = {dot for dot, (_, value, _) in self.live[LIFE].items() if value.data == b"\1"}
        writes = [(m, dot, value) for dot, (m, value, _) in self.live[CONTENT].items() if dot in alive]
        if not writes:
            return 0, 0
        content = max(writes, key=lambda w: w[:2])[2]
        name = 0 if content.setting else 4 + sum(map(len, setting_content(content.data)))
        return 1, content.length - name


class State:
    def __init__(self):
        self.entities, self.generation, self.stores, self.used = {}, 2, {}, {}

    def fold(self, operation, store):
        key = operation.tag, operation.kind
        entity = self.entities.setdefault(key, Entity())
        if entity.knows(operation.dot):
            return
        if operation.kind == SETTING:
            if store is not None:
                self.stores[operation.tag] = store
            after = entity.copy()
            after.apply(operation, self.generation)
            if not self.count(operation.tag, entity, after):
                entity.gone[operation.dot, 0] = [self.generation, True]
                return
            self.entities[key] = after
        else:
            entity.apply(operation, self.generation)

    def count(self, tag_, before, after):
        """Section 5.4."""
        store = self.stores.get(tag_)
        if store is None:
            return True
        keys, size = self.used.get(store, (0, 0))
        (k0, s0), (k1, s1) = before.usage(), after.usage()
        if keys - k0 + k1 > max(1024, keys) or size - s0 + s1 > max(1_048_576, size):
            return False
        self.used[store] = keys - k0 + k1, size - s0 + s1
        return True

    def rows(self):
        """Section 7."""
        for (tag_, kind), entity in sorted(self.entities.items()):
            head = tag_ + u8(kind)
            for (dot, register), (since, folded) in sorted(entity.gone.items()):
                yield head + u8(0) + dot + u8(self.age(since)) + u8(register) + u8(folded)
            for register, writes in entity.live.items():
                for dot, (modified, value, since) in sorted(writes.items()):
                    yield (head + u8(register) + dot + u8(self.age(since)) + modified.to_bytes(8, "little", signed=True)
                           + value.pack())

    def age(self, since):
        return min(2, self.generation - since)

    def digest(self):
        return label_hash("sync-state", b"".join(label_hash("sync-row", row) for row in self.rows()))

    def end_generation(self):
        self.generation += 1
        oldest = self.generation - 1
        for key, entity in list(self.entities.items()):
            entity.gone = {k: mark for k, mark in entity.gone.items() if mark[0] >= oldest}
            fresh = any(w[2] >= oldest for writes in entity.live.values() for w in writes.values())
            if not entity.exists() and not entity.gone and not fresh:
                del self.entities[key]


# 3 Entries

class Body:
    def __init__(self, kind, author, payload):
        r = Reader(payload)
        self.kind, self.author = kind, author
        self.link = r.take(32) if kind not in (5, 7) else None
        if kind == 1:
            self.random, self.record = r.take(32), Record.read(r)
        elif kind == 2:
            self.record = Record.read(r)
        elif kind == 3:
            self.erase = r.within(0, 1)
            count = r.int(2)
            if count == 0:
                raise Void("form")
            self.ids = r.ascending(count)
        elif kind == 4:
            self.id, self.role = r.take(16), r.within(1, 3)
        elif kind == 5:
            self.operations = []
            while not self.operations or r.at < len(payload):
                self.operations.append(Operation.read(r, author))
        elif kind == 6:
            self.number, self.digest, self.last = r.int(8), r.take(32), {}
            for _ in range(r.int(2)):
                id_ = r.take(16)
                if self.last and id_ <= max(self.last):
                    raise Void("form")
                self.last[id_] = r.int(8), r.take(32)
            self.objects = [r.take(32) for _ in range(r.int(2))]
        elif kind == 8:
            r.take(40)
            self.ids = r.ascending(r.int(2))
        elif kind != 7:
            raise Void("form")
        r.end()


def entry_key(epoch_key, associated):
    return KDF(epoch_key, "sync-entry", associated)


def signed(associated, kind, author, payload):
    return b"coffer/v1/sync-entry\0" + associated + HASH(u8(kind) + author + payload)


class Log:
    """Folds a log as the device with these keys, or as one that has only the keys of the epochs."""

    def __init__(self, space, box_seed=None, keys=()):
        self.space, self.box_seed = space, box_seed
        self.id, self.number, self.chain, self.epoch = None, 0, ZERO32, 0
        self.hints, self.keys = dict(keys), {}
        self.devices, self.removed, self.link, self.link_number = {}, set(), ZERO32, 0
        self.state = State()
        # The number and C of the last entry of each member.
        self.last = {}

    def fold(self, entry):
        """The cause if the entry is void, else "valid"; raises Halt."""
        cause, author = "valid", None
        try:
            body, *rest = self.prove(entry)
            self.apply(entry, body, *rest)
            author = body.author
        except Void as void:
            cause = str(void)
        self.chain = chain_after(self.chain, entry)
        if author:
            self.last[author] = self.number, self.chain
        self.number += 1
        return cause

    def open(self, entry, key):
        clear_length = int.from_bytes(entry[68:72], "little")
        clear, box = entry[72:72 + clear_length], entry[72 + clear_length:]
        associated = entry[:72] + HASH(clear)
        body = box_seal_open(entry_key(key, associated), box)
        if len(body) < 81:
            raise Void("form")
        kind, author, signature, payload = body[0], body[1:17], body[17:81], body[81:]
        return clear, kind, author, payload, lambda s: sodium.verify(signature, signed(associated, kind, author, payload), s)

    def prove(self, entry):
        """Section 3.1, in its order."""
        if not 240 <= len(entry) <= MAX_ENTRY:
            raise Void("length")
        clear_length = int.from_bytes(entry[68:72], "little")
        if clear_length > len(entry) - 240 or not f.is_box_length(len(entry) - 72 - clear_length):
            raise Void("length")
        if entry[:8] != b"CofferS1":
            raise Void("magic")
        if entry[8:24] != self.space:
            raise Void("space")
        if int.from_bytes(entry[24:32], "little") != self.number:
            raise Void("number")
        epoch = int.from_bytes(entry[64:68], "little")
        if entry[32:64] != self.chain:
            self.check_fork(entry, epoch)
            raise Void("chain")
        if epoch != self.epoch:
            raise Void("epoch")
        if self.number == 0:
            return self.prove_genesis(entry)
        clear, kind, author, payload, is_signed = self.open(entry, self.keys[epoch])
        if author not in self.devices:
            raise Void("author")
        if not is_signed(self.devices[author].sign):
            raise Void("signature")
        body = Body(kind, author, payload)
        if kind == 1:
            raise Void("form")
        self.check_clear(clear, body)
        self.check_right(body, self.devices[author])
        next_key = self.next_key(clear, body.ids) if kind == 3 else None
        stores = [self.check_content(operation) for operation in body.operations] if kind == 5 else None
        if kind == 6 and (body.digest, body.last) != (self.state.digest(), self.last):
            raise Halt("checkpointFalse")
        return body, next_key, stores

    def prove_genesis(self, entry):
        key = self.hints[0]
        clear, kind, author, payload, is_signed = self.open(entry, key)
        body = Body(kind, author, payload)
        if kind != 1:
            raise Void("form")
        if body.record.id != author:
            raise Void("author")
        if not is_signed(body.record.sign):
            raise Void("signature")
        if space_of(body.record, body.random) != self.space or body.record.role != OWNER or body.record.recovery:
            raise Void("form")
        if not keys_are_for([body.record], clear):
            raise Void("clear")
        if body.link != ZERO32:
            raise Void("link")
        return body, key, None

    def check_fork(self, entry, epoch):
        if epoch > self.epoch or epoch not in self.keys:
            return
        try:
            _, _, author, _, is_signed = self.open(entry, self.keys[epoch])
        except Void:
            return
        if author in self.devices and is_signed(self.devices[author].sign):
            raise Halt("forked")

    def staying(self, ids):
        return [self.devices[id_] for id_ in sorted(self.devices) if id_ not in ids]

    def check_clear(self, clear, body):
        if body.kind == 2:
            right = keys_are_for([body.record], clear)
        elif body.kind == 3:
            right = len(clear) >= 168 and keys_are_for(self.staying(body.ids), clear[200:], 80)
        else:
            right = clear == b""
        if not right:
            raise Void("clear")

    def check_right(self, body, author):
        """Section 4."""
        kind = body.kind
        if body.link is not None and body.link != self.link or kind == 6 and body.number != self.link_number:
            raise Void("link")
        own = lambda record: record.person == author.person and record.role >= author.role     # noqa: E731
        owner, member = author.role == OWNER, author.role == MEMBER
        allowed = {
            2: lambda: owner or member and own(body.record),
            3: lambda: owner or member and all(own(self.devices[i]) for i in body.ids if i in self.devices),
            4: lambda: owner, 5: lambda: owner or member, 6: lambda: owner, 7: lambda: True, 8: lambda: True}
        if not allowed[kind]():
            raise Void("right")
        if kind == 2 and (body.record.id in self.devices or body.record.id in self.removed or len(self.devices) >= 4096):
            raise Void("record")
        owners = {id_ for id_, record in self.devices.items() if record.role == OWNER}
        if kind == 3 and (any(i not in self.devices or i == author.id for i in body.ids) or not owners - set(body.ids)):
            raise Void("target")
        if kind == 4 and (body.id not in self.devices or body.role != OWNER and not owners - {body.id}):
            raise Void("target")

    def next_key(self, clear, ids):
        """The key, which all who stay get and which leads back: a box opens with the secret key of either side."""
        back, public, boxes = clear[:168], clear[168:200], clear[200:]
        staying, own = self.staying(ids), None
        if self.box_seed is not None:
            own_public, own_secret = sodium.box_keypair(self.box_seed)
            for index, device in enumerate(staying):
                if device.box == own_public:
                    own = sodium.box_open(boxes[80 * index + 8:80 * (index + 1)], public, own_secret)
        key = own or self.hints.get(self.epoch + 1)
        if key is None:
            raise Void("key")
        try:
            former = box_seal_open(KDF(key, "sync-back", self.space), back)
        except Void:
            former = None
        sender, secret = sodium.box_keypair(KDF(key, "sync-sender", self.space))
        if former != self.keys[self.epoch] or sender != public or any(
                sodium.box_open(boxes[80 * i + 8:80 * (i + 1)], device.box, secret) != key for i, device in enumerate(staying)):
            raise Void("key")
        return key

    def check_content(self, operation):
        store = None
        for register, _, value in operation.parts:
            if register != CONTENT or value.name is not None and operation.kind == ITEM:
                continue
            if operation.kind == ITEM:
                tag_ = item_content(value.data)
            else:
                store, key = value.setting or setting_content(value.data)
                tag_ = tag("sync-setting", text(store) + text(key))
            if tag_ != operation.tag:
                raise Void("tag")
        return store

    def apply(self, entry, body, key, stores):
        kind = body.kind
        if kind in (1, 2):
            self.devices[body.record.id] = body.record
            if kind == 1:
                self.keys[0] = key
        elif kind == 3:
            for id_ in body.ids:
                del self.devices[id_]
                self.last.pop(id_, None)
            self.removed |= set(body.ids)
            self.epoch += 1
            self.keys[self.epoch] = key
        elif kind == 4:
            self.devices[body.id].role = body.role
        elif kind == 5:
            for operation, store in zip(body.operations, stores):
                self.state.fold(operation, store)
        elif kind == 6:
            self.state.end_generation()
        if kind in LINKED:
            self.link, self.link_number = HASH(entry), self.number


def keys_are_for(devices, clear, size=88):
    return len(clear) == size * len(devices) and all(
        clear[size * i:size * i + 8] == device.id[:8] for i, device in enumerate(devices))
