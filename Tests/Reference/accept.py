"""Files that must be accepted, with the dump they must give."""
import coffer_format as f
from coffer_ref import dump_lines
from forge import KEY_FILE, hot_journal, in_wal, run_sql
from rules import grant, pin

TEXT, DATA, INTEGER, TIME = f.TEXT, f.DATA, f.INTEGER, f.TIME


def dump(forge):
    items = []
    for i in forge.items.values():
        sealed = i.cls in f.DEVICE_CLASSES and not forge.device
        items.append(f.Item(i.id, i.group, i.cls, None if sealed else i.attributes, None if sealed else i.secret, i.ver))
    groups = sorted(forge.groups.values(), key=lambda g: g.name.encode())
    lines = dump_lines(groups, sorted(items, key=lambda i: (i.group.name.encode(), i.id)))
    return "".join(line + "\n" for line in lines).encode()


def every_class(v):
    for attributes in (
        {"class": (INTEGER, 1)},
        {"class": (INTEGER, 1), "account": (TEXT, "bob\0\n\"ö\U0001F600"), "comment": (TEXT, ""), "label": (TEXT, "l"),
         "created": (TIME, -1), "modified": (TIME, 2 ** 63 - 1), "user.time": (TIME, -2 ** 63),
         "user.number": (INTEGER, 2 ** 64 - 1), "user.data": (DATA, bytes(range(256))), "user.text": (TEXT, ""),
         "user.ä": (DATA, b""), "future-name": (INTEGER, 0), "server": (INTEGER, 0), "user." + "x" * 250: (TEXT, "x")},
        {"class": (INTEGER, 2), "account": (TEXT, "bob"), "authentication-type": (TEXT, "http-basic"),
         "path": (TEXT, "/"), "port": (INTEGER, 443), "protocol": (TEXT, "https"), "security-domain": (TEXT, "d"),
         "server": (TEXT, "example.org")},
        {"class": (INTEGER, 2), "server": (TEXT, "example.org")},
        {"class": (INTEGER, 3), "application-label": (DATA, b"\0"), "application-tag": (DATA, b"tag"),
         "creator": (INTEGER, 2 ** 64 - 1), "effective-key-size": (INTEGER, 256), "end-date": (TIME, -5),
         "key-class": (TEXT, "private"), "key-size": (INTEGER, 256), "key-type": (TEXT, "ed25519"),
         "start-date": (TIME, 5)},
        {"class": (INTEGER, 4), "certificate-type": (INTEGER, 1), "issuer": (DATA, b"i"), "serial-number": (DATA, b"\1")},
        {"class": (INTEGER, 5), "title": (TEXT, "door code"), "label": (TEXT, ""), "confirm": (INTEGER, 0),
         "install-bound": (TEXT, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.com.example.editor")},
        {"class": (INTEGER, 5), "title": (TEXT, "e\u0301 is not é")}, {"class": (INTEGER, 5), "title": (TEXT, "é")},
    ):
        v.add_item("default", attributes, b"secret")


def every_device_class(v):
    for cls in range(1, 6):
        v.add_item("default", v.generic(f"user {cls}", "device"), b"secret %d" % cls, cls)


def lengths(v):
    for n in (0, 1, 127, 128, 255, 256, 511, 512, 1024, 2047, 2048, 4095, 4096, 8191, 8192, 12287):
        v.add_item("default", v.generic(str(n), "length"), b"\x80" * n)
        v.add_item("default", v.generic(str(n), "zeros"), bytes(n))


def longest_list(v):
    attributes = {"class": (INTEGER, 5), "title": (TEXT, "t" * 65_536)}
    attributes.update({f"user.{i:02}": (DATA, bytes(65_536)) for i in range(14)})
    rest = f.MAX_MESSAGE - len(f.pack_list(attributes)) - 14
    attributes["user.99"] = (DATA, b"x" * rest)
    assert len(f.pack_list(attributes)) == f.MAX_MESSAGE
    v.add_item("default", attributes, b"")


def many_records(n):
    def edit(v):
        for _ in range(n - len(v.records)):
            v.other_kind(4)
    return edit


def many_items(n):
    def edit(v):
        for i in range(n):
            v.add_item(("default", "work")[i % 2], v.generic(f"user {i}", "many"), b"secret %d" % i)
    return edit


def key_slot_with(*more):
    def edit(v):
        v.slots.update({k: make(v) for k, make in more})
    return edit


def vectors(add_any):
    def add(name, **options):
        add_any(name, "-", "dump", code="accept", dump=dump, **options)

    # Depths, sizes
    for depth in (0, 1, 2):
        add(f"accept-depth-{depth}", options=dict(depth=depth))
        add(f"accept-depth-{depth}-no-records", options=dict(depth=depth, groups=(), items=False))
        add(f"accept-depth-{depth}-300-items", options=dict(depth=depth), records=many_items(300))
    add("accept-4096-records-in-root", records=many_records(4096))
    add("accept-shared-prefix", options=dict(depth=2), records=lambda v: [
        v.other_kind(4, prefix=b"\0\x80") for _ in range(600)])
    add("accept-empty-group", options=dict(items=False))
    add("accept-group-names", options=dict(items=False), records=lambda v: [
        v.add_group(x) for x in ("x" * 255, "ä", "e\u0301", "é", " ", "\u0080", "\U0001F600", "Default")])
    add("accept-first-generation", options=dict(generation=1))
    add("accept-second-generation", options=dict(generation=2))
    add("accept-generation-64", options=dict(generation=64))
    add("accept-generation-65", options=dict(generation=65))
    add("accept-generation-66", options=dict(generation=66))
    add("accept-generation-huge", options=dict(generation=2 ** 64 - 2))

    add("accept-write-ahead-log", options=dict(depth=1), after=lambda v, path: (
        run_sql(path, ["UPDATE hdr SET v=zeroblob(256) WHERE k=0"]),
        in_wal(path, ["UPDATE hdr SET v=x'%s' WHERE k=0" % v.hdr[0][1].hex()])))
    add("accept-hot-journal", after=lambda v, path: hot_journal(path, ["UPDATE hdr SET v=zeroblob(256)"]))

    # Contents
    add("accept-every-item-class", options=dict(items=False), records=every_class)
    add("accept-lengths", records=lengths)
    add("accept-secret-1-mib", records=lambda v: v.add_item("default", v.generic("big", "big"), b"\x5a" * f.MAX_MESSAGE))
    add("accept-list-1-mib", records=longest_list)
    add("accept-device-classes", options=dict(device=True), records=every_device_class)
    add("accept-device-classes-sealed", records=lambda v: (
        setattr(v, "device", True), v.add_group("default"), v.add_group("work"), every_device_class(v),
        [v.records.pop(i) and v.items.pop(i) for i in list(v.items) if i not in
         [f.item_id(v.groups["default"].ik, v.generic(f"user {c}", "device")) for c in range(1, 6)]],
        setattr(v, "device", False)))
    add("accept-several-epochs", records=lambda v: (
        v.groups["default"].gks.update({(1, 2): b"\1" * 32, (1, 2 ** 32 - 1): b"\2" * 32}),
        v.groups["default"].keys.update({(1, 2): b"\1" * 32, (1, 2 ** 32 - 1): b"\2" * 32}),
        v.put_group(), v.put_item(epoch=2), v.put_item(v.eve, epoch=2 ** 32 - 1)))
    add("accept-marked-key", records=lambda v: (
        v.groups["default"].gks.update({(1, 2): b"\1" * 32}), v.groups["default"].keys.update({(1, 2): b"\1" * 32}),
        setattr(v.groups["default"], "marked", {(1, 1)}), v.put_group(s=f.pack_group(
            v.groups["default"].gid, v.groups["default"].ik, v.groups["default"].keys, {(1, 1)})), v.put_item(epoch=2)))
    renewed = dict(header=lambda v: v.header.__dict__.update(epoch=2), records=lambda v: [
        v.put_group(name, epoch=2) for name in v.groups])
    add("accept-anchor-announced", anchor=lambda v: v.anchor(3, v.ring[64:96], key=bytes(32)) + v.anchor(), **renewed)
    add("accept-anchor-announced-in-vain", anchor=lambda v: v.anchor() + v.anchor(8, bytes(32), key=bytes(32)))
    add("accept-one-key-only", options=dict(groups=("default",), items=False), records=lambda v: (
        v.add_group("one", classes=(2,)), v.add_item("one", v.generic("a", "b"), b"", 2)))
    add("accept-group-unknown-attributes", records=lambda v: (
        v.groups["default"].attributes.update({"future": (DATA, b"x"), "user.x": (INTEGER, 1)}), v.put_group()))
    add("accept-other-kinds", records=lambda v: v.other_kind(4))
    add("accept-former-versions", header=lambda v: v.header.__dict__.update(read_only=1), records=lambda v: (
        v.put_former(2, 9), v.put_former(1, 5, origin=b"\1" * 16), v.name_former((v.bob, 2, 9), (b"\1" * 16, 1, 5))))
    add("accept-removed-item", records=lambda v: (
        v.put_former(3, 9, head=True, entries=[(v.eve, 2, 8)], owner=v.eve), v.put_former(2, 8, owner=v.eve),
        v.records.pop(v.eve), v.items.pop(v.eve)))
    add("accept-former-same-times", records=lambda v: (
        v.put_former(2, -1), v.put_former(1, -1), v.name_former((v.bob, 2, -1), (v.bob, 1, -1), **{"origin-version": (INTEGER, 3)})))
    add("accept-limits", records=lambda v: v.put_policy(
        {"history-versions": (INTEGER, 0), "history-days": (INTEGER, 3650), "future": (DATA, b"x")}))
    add("accept-no-limits", records=lambda v: v.put_policy({}))
    add("accept-policy-of-a-later-version", records=lambda v: v.put_policy(
        {"policy": (TEXT, "space"), "history-versions": (TEXT, "x")}, s=b"x", id_=bytes(16)))
    add("accept-access-rules", records=lambda v: [v.put_rule(rule) for rule in (
        pin(), pin("a.b"), pin("A0-1." + "x" * 150), pin("a.c", removed=(TIME, 7)), pin("a.d", future=(DATA, b"x")),
        pin("a.e", name=""), grant(), grant(group="x" * 255), grant(group="g", rights=0),
        grant(application="", rights=7, confirm=1))])
    add("accept-access-rule-of-a-later-version", records=lambda v: v.put_rule(
        {"rule": (TEXT, "lease"), "version": (TEXT, "x")}, s=b"x", id_=bytes(16)))
    add("accept-2050-system-records", options=dict(depth=1), records=lambda v: [
        v.put_rule({"rule": (TEXT, "lease")}, id_=b"\0" + v.random(15)) for _ in range(2048)])
    add("accept-unlisted", options=dict(depth=1), tables=lambda v: (
        v.rec.append((bytes(16),) + v.records[v.bob]), v.node.append((bytes(2), b"x")),
        v.node.append((bytes(1), b"x")) if bytes(1) not in dict(v.node) else None))

    add("accept-row-without-leaf", leaves=lambda v: (v.leaves.pop(v.bob), v.items.pop(v.bob)))

    # Header
    add("accept-minor-version", header=lambda v: v.header.__dict__.update(minor=65535))
    add("accept-read-only-flag", header=lambda v: v.header.__dict__.update(read_only=0x80000001))
    add("accept-master-epoch", header=lambda v: v.header.__dict__.update(epoch=9), records=lambda v: [
        v.put_group(name, epoch=9) for name in v.groups])
    add("accept-created-max", header=lambda v: v.header.__dict__.update(created=2 ** 64 - 1))

    # Slots
    phrase, recovery = "pässwörd".encode(), bytes(range(32))
    nfd = "pa\u0308sswo\u0308rd".encode()
    others = {
        "passphrase": (f.Credential(passphrase=phrase), {".pass": phrase}),
        "passphrase-nfd": (f.Credential(passphrase=phrase), {".pass": nfd}),
        "recovery": (f.Credential(recovery=recovery), {".recovery": f.recovery_text(recovery).encode()}),
        "recovery-lower-case": (f.Credential(recovery=recovery),
                                {".recovery": f.recovery_text(recovery).lower().replace("-", " ").encode()}),
        "both": (f.Credential(passphrase=phrase, key_file=KEY_FILE), {".pass": phrase, ".key": KEY_FILE}),
        "key-file-32": (f.Credential(key_file=bytes(32)), {".key": bytes(32)}),
        "key-file-1-mib": (f.Credential(key_file=bytes(1_048_576)), {".key": bytes(1_048_576)}),
    }
    for name, (credential, files) in others.items():
        add("accept-slot-" + name, files=lambda v, x=files: x,
            slots=lambda v, c=credential: v.slots.update({1: v.slot(c)}))
    external = f.Credential(external=lambda ext: bytes(32))
    add("accept-slot-8-of-all-types", slots=key_slot_with(
        (1, lambda v: v.slot(external, ext=b"")), (2, lambda v: v.slot(external, ext=bytes(4096))),
        (3, lambda v: v.unusable_slot(1)), (4, lambda v: v.unusable_slot(4)),
        (5, lambda v: v.slot(f.Credential(recovery=recovery))), (6, lambda v: v.slot(f.Credential(key_file=bytes(32)))),
        (7, lambda v: v.slot()), (8, lambda v: v.slot(f.Credential(key_file=bytes(33))))))
    add("accept-slot-gap", slots=lambda v: v.slots.update({8: v.slots.pop(1)}))
    add("accept-slot-above-ceiling-untried", slots=key_slot_with(
        (1, lambda v: v.unusable_slot(1, t=2 ** 32 - 1, m=2 ** 32 - 1)), (2, lambda v: v.slot())))
    add("accept-slot-after-other-vaults", slots=key_slot_with((1, lambda v: v.slot(vid=bytes(16))), (2, lambda v: v.slot())))
    add("accept-slot-broken-box-later", slots=key_slot_with((2, lambda v: v.slot()[:88] + bytes(72))))

    # Anchors
    add("accept-anchor-now", anchor=lambda v: v.anchor())
    add("accept-anchor-empty", anchor=lambda v: b"\0"[:0])
    add("accept-anchor-first", anchor=lambda v: v.anchor(1, v.ring[:32]))
    add("accept-anchor-previous", anchor=lambda v: v.anchor(6, v.ring[-32:]))
    add("accept-anchor-oldest-of-64", options=dict(generation=100), anchor=lambda v: v.anchor(36, v.ring[:32]))
    add("accept-anchor-beyond-ring", options=dict(generation=100), anchor=lambda v: v.anchor(35, bytes(32)))
