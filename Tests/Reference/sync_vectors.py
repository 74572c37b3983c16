"""Writes Tests/Vectors/sync.txt: one log with valid entries and, behind each rule of section 3.1 of docs/sync-format.md, entries that
break this rule and keep all above it.

    python3 sync_vectors.py > ../Vectors/sync.txt

Everything derives from fixed seeds, so the file is the same each time."""
import sys

import coffer_format as f
import sodium
from contents import INTEGER, TEXT, TIME, pack_list, primary_list
from format import HASH, KDF, PAD, u8, u16, u32, u64
from sync_format import (CONTENT, ITEM, LIFE, MEMBER, OWNER, READER, SECRET, SETTING, ZERO32, Halt, Log, Operation, Record, Value,
                         entry_key, signed, space_of, tag, text)


class Random:
    def __init__(self):
        self.count = 0

    def __call__(self, n):
        self.count += 1
        return HASH(b"sync vectors " + u32(self.count))[:n]


class Device:
    def __init__(self, number, person, role):
        self.sign_seed, self.box_seed = bytes([0x11] * 31 + [number]), bytes([0x22] * 31 + [number])
        self.signing, self.secret = sodium.sign_keypair(self.sign_seed)
        self.box = sodium.box_keypair(self.box_seed)[0]
        self.record = Record(self.signing, self.box, role, 0, person, b"device %d" % number)
        self.id = self.record.id


class Writer:
    """The writer of the log, and of the file."""

    def __init__(self):
        self.random, self.lines, self.keys, self.payloads = Random(), [], {}, []
        self.devices = [Device(0, b"ada", OWNER), Device(1, b"bob", MEMBER), Device(2, b"ada", READER),
                        Device(3, b"ada", MEMBER), Device(4, b"bob", READER), Device(5, b"eve", MEMBER)]
        founder, random32 = self.devices[0], self.random(32)
        self.space = space_of(founder.record, random32)
        self.keys[0] = self.random(32)
        self.log = Log(self.space, founder.box_seed, {0: self.keys[0]})
        self.say("device", founder.sign_seed, founder.box_seed)
        self.say("space", self.space)
        self.say("key", self.keys[0])
        self.genesis_payload = ZERO32 + random32 + founder.record.pack()
        self.write(1, founder, self.genesis_payload, clear=self.sealed(self.keys[0], [founder.record]))

    def say(self, word, *values):
        self.lines.append(" ".join([word] + [v if isinstance(v, str) else v.hex() for v in values]))

    def seal_box(self, key, message, padded=None):
        nonce = self.random(24)
        return nonce + sodium.secretbox(PAD(message) if padded is None else padded, nonce, key)

    def sealed(self, key, records):
        return b"".join(r.id[:8] + sodium.box_seal(key, r.box, self.random(32)) for r in records)

    def entry(self, kind, author, payload, clear=b"", **change):
        """An entry for the end of the log; `change` breaks a rule, and what is above it stays right."""
        log = self.log
        self.payloads.append((kind, payload))
        header = (change.get("magic", b"CofferS1") + change.get("space", self.space) + u64(change.get("number", log.number))
                  + change.get("chain", log.chain) + u32(change.get("epoch", log.epoch)) + u32(len(clear)))
        associated = header + HASH(clear)
        signature = change.get("signature", sodium.sign(
            signed(associated, kind, author.id, payload), change.get("signer", author).secret))
        body = change.get("body", u8(kind) + author.id + signature + payload)
        key = entry_key(change.get("key", self.keys[change.get("epoch", log.epoch)
                                                    if change.get("epoch", log.epoch) in self.keys else log.epoch]), associated)
        return header + clear + self.seal_box(key, body, change.get("padded"))

    def put(self, expected, entry):
        """An entry, and what it is."""
        start = entry.rstrip(b"\0")
        zeros = len(entry) - len(start)
        self.say("entry", expected, f"{start.hex()}+{zeros}" if zeros > 64 else entry)
        found = self.log.fold(entry)
        assert found == expected, f"{expected} expected, and {found} found, at line {len(self.lines)}"

    def write(self, *arguments, **options):
        self.put("valid", self.entry(*arguments, **options))

    def void(self, cause, *arguments, **options):
        self.put(cause, self.entry(*arguments, **options))

    def halt(self, expected, *arguments, **options):
        """An entry before which the fold stops; the log goes on without it."""
        entry = self.entry(*arguments, **options)
        self.say("halt", expected, entry)
        try:
            self.log.prove(entry)
        except Halt as halt:
            assert str(halt) == expected, halt
            return
        raise AssertionError(expected)

    def put_object(self, data, epoch=0):
        blob = u32(epoch) + self.seal_box(KDF(self.keys[epoch], "sync-object", self.space), data)
        return HASH(blob)

    def member(self, payload):
        return self.log.link + payload

    def checkpoint(self, number=None, digest=None, last=None, objects=()):
        last = sorted(self.log.last.items()) if last is None else last
        return self.member(
            u64(self.log.link_number if number is None else number) + (digest or self.log.state.digest())
            + u16(len(last)) + b"".join(id_ + u64(n) + chain for id_, (n, chain) in last) + u16(len(objects)) + b"".join(objects))

    def next_keys(self, key, records, wrong=()):
        """The boxes of a removal; `wrong` are devices that get another key."""
        sender, secret = sodium.box_keypair(KDF(key, "sync-sender", self.space))
        return sender + b"".join(
            r.id[:8] + sodium.box(bytes(32) if r.id in wrong else key, self.random(24), r.box, secret) for r in records)

    def removal(self, ids, key, back=None, wrong=()):
        back = self.seal_box(KDF(key, "sync-back", self.space), self.keys[self.log.epoch] if back is None else back)
        return (self.member(u8(0) + u16(len(ids)) + b"".join(sorted(ids))),
                back + self.next_keys(key, self.log.staying(ids), wrong))


def item(group, account, label=None, protection=1, **more):
    attributes = {"class": (INTEGER, 1), "account": (TEXT, account), **more}
    if label:
        attributes["label"] = (TEXT, label)
    content = u8(protection) + text(group) + pack_list(attributes)
    cls, primary = primary_list(attributes)
    return content, tag("sync-item", text(group) + u8(cls) + primary)


def setting(store, key, value):
    return (u16(len(store)) + store + u16(len(key)) + key + value, tag("sync-setting", text(store) + text(key)))


def headers(w, owner):
    good = w.entry(7, owner, b"")
    w.put("length", good[:239])
    w.put("length", b"")
    w.put("length", good + b"\0")
    w.put("length", good[:68] + u32(0xFFFFFFFF) + good[72:])
    w.put("length", good[:68] + u32(1) + good[72:])
    w.put("length", w.entry(7, owner, b"") + bytes(524_288))
    w.void("magic", 7, owner, b"", magic=b"CofferS2")
    w.void("space", 7, owner, b"", space=bytes(16))
    w.void("number", 7, owner, b"", number=w.log.number + 1)
    outsider = w.devices[5]
    w.void("chain", 7, outsider, b"", chain=bytes(32))
    w.void("chain", 7, owner, b"", chain=bytes(32), key=bytes(32))
    w.void("chain", 7, owner, b"", chain=bytes(32), signer=outsider)
    w.halt("forked", 7, owner, b"", chain=bytes(32))
    w.void("epoch", 7, owner, b"", epoch=7)
    w.void("seal", 7, owner, b"", key=bytes(32))
    w.void("seal", 7, owner, b"", padded=bytes(128))
    good = w.entry(7, owner, b"")
    w.put("seal", good[:-1] + bytes([good[-1] ^ 1]))


def bodies(w, owner, member):
    outsider = w.devices[5]
    w.void("author", 7, outsider, b"")
    w.void("signature", 7, owner, b"", signer=outsider)
    w.void("signature", 7, owner, b"", signature=bytes(64))
    w.void("form", 7, owner, b"", body=b"\7")
    w.void("form", 0, owner, b"")
    w.void("form", 9, owner, b"")
    w.void("form", 7, owner, b"\0")
    w.void("form", 1, owner, w.genesis_payload)
    w.void("form", 3, owner, w.member(u8(2) + u16(1) + member.id))
    w.void("form", 3, owner, w.member(u8(0) + u16(0)))
    w.void("form", 3, owner, w.member(u8(0) + u16(2) + member.id + member.id))
    w.void("form", 3, owner, w.member(u8(0) + u16(2) + member.id))
    w.void("form", 4, owner, w.member(member.id + u8(0)))
    w.void("form", 4, owner, w.member(member.id + u8(4)))
    w.void("form", 5, owner, b"")
    w.void("form", 8, owner, w.member(u64(3) + bytes(32) + u16(1)))
    good = outsider.record
    for record in (bytes(16) + good.pack()[16:],
                   Record(good.sign, bytes(32), MEMBER, 0, b"eve", b"x").pack(),
                   Record(good.sign, good.box, 4, 0, b"eve", b"x").pack(),
                   Record(good.sign, good.box, 2, 2, b"eve", b"x").pack(),
                   Record(good.sign, good.box, 2, 0, b"", b"x").pack(),
                   Record(good.sign, good.box, 2, 0, b"a\nb", b"x").pack(),
                   Record(good.sign, good.box, 2, 0, b"\xff", b"x").pack(),
                   Record(good.sign, good.box, 2, 0, b"e" * 256, b"x").pack()):
        w.void("form", 2, owner, w.member(record))
    w.void("clear", 7, owner, b"", clear=b"\0")
    w.void("clear", 2, owner, w.member(good.pack()))
    w.void("clear", 2, owner, w.member(good.pack()), clear=w.sealed(w.keys[0], [member.record]))
    payload, clear = w.removal([member.id], w.random(32))
    w.void("clear", 3, owner, payload, clear=clear[:-80])
    w.void("clear", 3, owner, payload, clear=clear[:167])
    w.void("clear", 3, owner, payload, clear=clear[:200] + clear[280:] + clear[200:280])
    w.void("link", 4, owner, ZERO32 + member.id + u8(READER))


def rights(w):
    owner, member, reader, own_member, bob_reader, outsider = w.devices
    w.void("right", 5, reader, life(reader, bytes(16)).pack(reader.id))
    w.void("right", 4, member, w.member(bob_reader.id + u8(MEMBER)))
    w.void("right", 6, member, w.checkpoint())
    w.void("link", 6, owner, w.checkpoint(number=w.log.link_number + 1))
    w.halt("checkpointFalse", 6, owner, w.checkpoint(digest=bytes(32)))
    last = w.log.last
    for wrong in ({**last, owner.id: (last[owner.id][0], bytes(32))}, {**last, owner.id: (0, last[owner.id][1])},
                  {id_: entry for id_, entry in last.items() if id_ != owner.id}, {**last, bytes(16): (0, bytes(32))}):
        w.halt("checkpointFalse", 6, owner, w.checkpoint(last=sorted(wrong.items())))
    w.void("form", 6, owner, w.checkpoint(last=sorted(last.items(), reverse=True)))
    w.void("form", 6, owner, w.checkpoint(last=2 * sorted(last.items())[:1]))
    for author, record in ((reader, outsider.record), (member, outsider.record), (own_member, Record(
            outsider.signing, outsider.box, OWNER, 0, b"ada", b"x"))):
        w.void("right", 2, author, w.member(record.pack()), clear=w.sealed(w.keys[0], [record]))
    for author, target in ((reader, own_member), (member, own_member), (own_member, owner)):
        payload, clear = w.removal([target.id], w.random(32))
        w.void("right", 3, author, payload, clear=clear)
    w.void("record", 2, owner, w.member(member.record.pack()), clear=w.sealed(w.keys[0], [member.record]))
    for ids in ([outsider.id], [owner.id]):
        payload, clear = w.removal(ids, w.random(32))
        w.void("target", 3, owner, payload, clear=clear)
    w.void("target", 4, owner, w.member(outsider.id + u8(MEMBER)))
    w.void("target", 4, owner, w.member(owner.id + u8(MEMBER)))
    payload, clear = w.removal([bob_reader.id], w.random(32), back=bytes(32))
    w.void("key", 3, owner, payload, clear=clear)
    # A wrong key for the reader of this file, or for another device; and keys of another sender.
    for wrong in (owner, member):
        payload, clear = w.removal([bob_reader.id], w.random(32), wrong=[wrong.id])
        w.void("key", 3, owner, payload, clear=clear)
    w.void("key", 3, owner, payload, clear=clear[:168] + w.next_keys(w.random(32), w.log.staying([bob_reader.id])))


def life(author, tag_, value=b"\1", kind=ITEM, modified=1, replaced=()):
    return Operation(kind, author.id, tag_, modified, [(LIFE, sorted(replaced), Value(value))])


def malformed(w, owner, member):
    content, tag_ = item(b"default", "bob")
    content_part = (CONTENT, [], Value(content))
    whole = Operation(ITEM, owner.id, tag_, 5, [content_part, (LIFE, [], Value(b"\1"))]).pack(owner.id)
    dot_at = 17
    w.void("form", 5, owner, whole[:dot_at] + bytes(16) + whole[dot_at + 16:])
    w.void("form", 5, owner, whole[:-1])
    w.void("form", 5, owner, u8(3) + whole[1:])
    w.void("form", 5, owner, whole + b"\1")
    w.void("form", 5, owner, u8(ITEM | 128) + owner.id + whole[1:])
    two = (b"\1" * 16, b"\2" * 16)
    for parts, kind in (([], ITEM), ([(LIFE, [], Value(b"\2"))], ITEM), ([(LIFE, [], Value(b""))], ITEM),
                        ([(LIFE, [], Value(b"\1")), content_part], ITEM), ([content_part, content_part], ITEM),
                        ([(SECRET, [], Value(b"x"))], SETTING), ([(4, [], Value(b"x"))], ITEM), ([(0, [], Value(b"x"))], ITEM),
                        ([(LIFE, [two[1], two[0]], Value(b"\1"))], ITEM), ([(LIFE, [two[0], two[0]], Value(b"\1"))], ITEM),
                        ([(LIFE, [], Value(name=bytes(32), length=70_000))], ITEM),
                        ([(SECRET, [], Value(name=bytes(32), length=65_536))], ITEM),
                        ([(SECRET, [], Value(name=bytes(32), length=1_048_577))], ITEM),
                        ([(CONTENT, [], Value(name=bytes(32), length=491_521))], ITEM),
                        ([(SECRET, [], Value(bytes(65_537)))], ITEM)):
        w.void("form", 5, owner, Operation(kind, owner.id, tag_, 5, parts).pack(owner.id))
    for bad in (b"", b"\3" + content[1:], b"\0" + content[1:], b"\1" + u32(2**32 - 1) + content[5:],
                item(b"coffer.sync", "bob")[0], item(b"", "bob")[0], item(b"a\nb", "bob")[0], item(b"g" * 256, "bob")[0],
                b"\1" + text(b"default"), content + b"\0", item(b"default", "a\nb")[0], item(b"default", "b" * 1025)[0],
                item(b"default", "bob", modified=(TIME, 1))[0], item(b"default", "bob", **{"install-bound": (TEXT, "x")})[0],
                item(b"default", "bob", sync=(TEXT, "x"))[0], item(b"default", "bob", former=(TEXT, "x"))[0],
                item(b"default", "bob", label=None, comment=(INTEGER, 1))[0]):
        w.void("form", 5, owner, Operation(ITEM, owner.id, tag_, 5, [(CONTENT, [], Value(bad))]).pack(owner.id))
    good = setting(b"s", b"k", b"\1")
    for bad in (b"", b"\5\0s", setting(b"", b"k", b"\1")[0], setting(b"s", b"", b"\1")[0], setting(b"s" * 256, b"k", b"\1")[0],
                setting(b"s", b"k" * 65, b"\1")[0], setting(b"s", b"k", b"")[0], setting(b"\xff", b"k", b"\1")[0],
                setting(b"s", b"\xff", b"\1")[0], setting(b"a\nb", b"k", b"\1")[0]):
        w.void("form", 5, owner, Operation(SETTING, owner.id, good[1], 5, [(CONTENT, [], Value(bad))]).pack(owner.id))
    w.void("tag", 5, owner, Operation(ITEM, owner.id, bytes(16), 5, [content_part]).pack(owner.id))
    w.void("tag", 5, owner, Operation(SETTING, owner.id, tag_, 5, [(CONTENT, [], Value(good[0]))]).pack(owner.id))
    # An object without a name, one that is too short or too long, one of another name, and one of a life.
    for cause, register, length, name in (
            ("form", CONTENT, 70_000, None), ("form", CONTENT, 65_530, (b"s", b"k")), ("form", CONTENT, 1_048_577, (b"s", b"k")),
            ("form", CONTENT, 70_000, (b"", b"k")), ("tag", CONTENT, 70_000, (b"s", b"l")), ("form", LIFE, 70_000, None)):
        w.void(cause, 5, owner, Operation(SETTING, owner.id, good[1], 5, [
            (register, [], Value(name=bytes(32), length=length, setting=name))]).pack(owner.id))


def fold(w, owner, member):
    content, tag_ = item(b"default", "bob", "one")
    one = Operation(ITEM, owner.id, tag_, 10, [(CONTENT, [], Value(content)), (SECRET, [], Value(b"hunter2")), (LIFE, [], Value(b"\1"))])
    w.write(5, owner, one.pack(owner.id))
    # An object that nobody has.
    away = Operation(ITEM, owner.id, tag_, 1, [(SECRET, [], Value(name=bytes(32), length=70_000))])
    w.write(5, owner, away.pack(owner.id))
    # Two that do not know of each other, one with a clock that is twenty years off, and one that replaces both.
    apart = [Operation(ITEM, device.id, tag_, modified, [(SECRET, [one.dot], Value(secret)), (LIFE, [one.dot], Value(b"\1"))])
             for device, modified, secret in ((owner, 11, b"left"), (member, 631_152_000_000, b"right"))]
    w.write(5, owner, apart[0].pack(owner.id))
    w.write(5, member, apart[1].pack(member.id))
    w.write(5, member, apart[1].pack(member.id))
    gone = life(owner, tag_, b"\0", modified=-5, replaced=[apart[0].dot])
    both = Operation(ITEM, owner.id, tag_, 12, [
        (CONTENT, [one.dot], Value(name=w.put_object(item(b"default", "bob", comment=(TEXT, "c" * 65_000), x=(TEXT, "y" * 600))[0]),
                                   length=len(item(b"default", "bob", comment=(TEXT, "c" * 65_000), x=(TEXT, "y" * 600))[0])))])
    w.write(5, owner, gone.pack(owner.id) + both.pack(owner.id))
    # A dot that is replaced before it comes, and then sent by another device.
    other, other_tag = item(b"default", "eve")
    early = Operation(ITEM, member.id, other_tag, 1, [(CONTENT, [], Value(other)), (SECRET, [], Value(b"a")), (LIFE, [], Value(b"\1"))])
    late = Operation(ITEM, owner.id, other_tag, 2, [(SECRET, [early.dot], Value(b"b"))])
    w.write(5, owner, late.pack(owner.id))
    w.write(5, owner, early.pack(owner.id))
    w.write(5, member, early.pack(member.id))
    # More writes than a register holds, none of which knows another one.
    w.write(5, owner, b"".join(life(owner, b"\7" * 16, modified=number).pack(owner.id) for number in range(260)))
    # A tag that is used with both types.
    w.write(5, owner, life(owner, tag_, kind=SETTING).pack(owner.id))
    for number in range(4):
        body, setting_tag = setting(b"store", b"k%d" % number, b"\6" + bytes([number]) * (number * 100))
        w.write(5, owner, Operation(SETTING, owner.id, setting_tag, number, [
            (CONTENT, [], Value(body)), (LIFE, [], Value(b"\1"))]).pack(owner.id))
    quota(w, owner)


def quota(w, owner):
    """The last byte of a store, the last key, and those behind them; the shortest object."""
    full = []

    def put(store, key, value, replaced=(), modified=1):
        tag_ = setting(store, key, b"")[1]
        operation = Operation(SETTING, owner.id, tag_, modified, [(CONTENT, sorted(replaced), value), (LIFE, [], Value(b"\1"))])
        full.append(operation)
        return operation.pack(owner.id)

    def object_(store, key, length):
        return Value(name=bytes(32), length=length, setting=(store, key))

    w.write(5, owner, put(b"full", b"large", object_(b"full", b"large", 983_000)))
    w.write(5, owner, put(b"full", b"small", object_(b"full", b"small", 65_536 - 12)))
    rest = 1_048_576 - 983_000 - 65_524 + 1
    w.write(5, owner, put(b"full", b"k", Value(setting(b"full", b"k", bytes(rest))[0])))
    w.write(5, owner, put(b"full", b"k", Value(setting(b"full", b"k", bytes(rest - 1))[0])))
    # It replaces nothing where it is refused, and what is shorter is taken.
    w.write(5, owner, put(b"full", b"k", Value(setting(b"full", b"k", bytes(rest))[0]), [full[-1].dot], 2))
    w.write(5, owner, put(b"full", b"k", Value(setting(b"full", b"k", b"\1")[0]), [full[-2].dot], 3))
    w.write(5, owner, b"".join(put(b"keys", b"%d" % n, Value(setting(b"keys", b"%d" % n, b"\1")[0])) for n in range(1025)))
    # Names that Unicode takes for equal are two stores.
    for store in ("caf\u00e9", "cafe\u0301"):
        w.write(5, owner, put(store.encode(), b"k", object_(store.encode(), b"k", 1_000_000)))


def main():
    w = Writer()
    owner, member, reader, own_member, bob_reader, outsider = w.devices
    for device in (member, reader, own_member):
        w.write(2, owner, w.member(device.record.pack()), clear=w.sealed(w.keys[0], [device.record]))
    w.write(2, member, w.member(bob_reader.record.pack()), clear=w.sealed(w.keys[0], [bob_reader.record]))
    headers(w, owner)
    bodies(w, owner, member)
    rights(w)
    malformed(w, owner, member)
    fold(w, owner, member)
    w.say("state", w.log.state.digest())
    w.write(7, reader, b"")
    w.write(6, owner, w.checkpoint(objects=[bytes(32)]))
    w.say("state", w.log.state.digest())
    # A removal with the next key, after which the removed device writes on.
    key = w.random(32)
    payload, clear = w.removal([bob_reader.id], key)
    before = w.log.chain
    w.write(3, member, payload, clear=clear)
    w.void("epoch", 7, bob_reader, b"", epoch=0)
    w.keys[1] = key
    w.void("author", 7, bob_reader, b"")
    w.void("record", 2, owner, w.member(bob_reader.record.pack()), clear=w.sealed(key, [bob_reader.record]))
    # A member that has missed the removal continues another history: a removed device does the same without effect.
    w.halt("forked", 7, reader, b"", epoch=0, chain=before)
    w.void("chain", 7, bob_reader, b"", epoch=0, chain=before)
    w.write(4, owner, w.member(own_member.id + u8(OWNER)))
    w.write(4, own_member, w.member(owner.id + u8(MEMBER)))
    w.void("right", 4, owner, w.member(owner.id + u8(OWNER)))
    w.write(8, reader, w.member(u64(7) + before + u16(1) + outsider.id))
    for _ in range(2):
        w.write(6, own_member, w.checkpoint())
        w.say("state", w.log.state.digest())
    w.say("end", w.log.chain, u32(w.log.epoch), w.log.link, *sorted(w.log.devices))
    return w.lines


HEADER = """# A log with entries that break one rule each. See docs/sync-format.md and Tests/Reference/sync_vectors.py. Values in hexadecimal.
# device SEEDS, space ID, key K_0: the reader. entry CAUSE BYTES: "valid" or the cause why it is void; +N: N zeros.
# halt CAUSE BYTES: the fold stops before this entry, which is not in the log. state DIGEST: of the state by now.
# end C EPOCH LINK DEVICES."""

if __name__ == "__main__":
    sys.stdout.write("\n".join([HEADER] + main()) + "\n")
