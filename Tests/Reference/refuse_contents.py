"""Vectors for R34 to R44, R50, R51 and R56 to R59: meta, groups, boxes, padding, attributes, identifiers."""
import coffer_format as f
from contents import entry
from forge import BOB, DEVICE_KEY
from rules import grant, pin

OLD = b"\x80"


def bob(**edits):
    return lambda v: v.put_item(**{k: x(v) if callable(x) else x for k, x in edits.items()})


def group(**edits):
    return lambda v: v.put_group(**{k: x(v) if callable(x) else x for k, x in edits.items()})


def resealed(id_, column, length):
    """A proven row whose box has another length."""
    def edit(v):
        key = id_(v)
        row = list(v.records[key])
        row[column] = (row[column] + bytes(5000))[:length]
        v.records[key] = (*row[:3], f.HASH(row[4]), row[4])
    return edit


def bob_list(*extra, drop=()):
    """Bob's list with entries changed: bytes of whole entries, in the order of their names."""
    entries = {b"account": entry(1, b"account", b"bob"), b"class": entry(3, b"class", f.u64(1)),
               b"service": entry(1, b"service", b"github")}
    for name in drop:
        del entries[name]
    for x in extra:
        entries[x[3:3 + int.from_bytes(x[1:3], "little")]] = x
    return b"".join(entries[name] for name in sorted(entries))


def list_faults():
    """name: a list that breaks 8.1"""
    good = bob_list()
    last = entry(1, b"service", b"github")
    for t in (0, 5, 255):
        yield f"type-{t}", bob_list(entry(t, b"user.x", b""))
    for t, name in ((3, "integer"), (4, "time")):
        for n in (0, 4, 7, 9, 16):
            yield f"{name}-{n}", bob_list(entry(t, b"user.x", bytes(n)))
    for name, b in {"overlong": b"\xc0\x80", "overlong-3": b"\xe0\x80\xaf", "overlong-4": b"\xf0\x80\x80\x80",
                    "surrogate": b"\xed\xa0\x80", "surrogate-pair": b"\xed\xa0\xbd\xed\xb8\x80",
                    "above": b"\xf4\x90\x80\x80", "f5": b"\xf5\x80\x80\x80", "lone": b"\x80", "cut": b"ab\xe2\x82",
                    "ff": b"\xff", "cut-then-ascii": b"\xc3(", "five-bytes": b"\xf8\x88\x80\x80\x80"}.items():
        yield "text-" + name, bob_list(entry(1, b"user.x", b))
        if name in ("overlong", "surrogate", "above", "cut", "ff"):
            yield "name-" + name, bob_list(entry(2, b"user." + b, b""))
    yield "name-empty", bob_list(entry(2, b"", b"x"))
    yield "name-256", bob_list(entry(2, b"user." + b"x" * 251, b""))
    for code in (0, 9, 10, 0x1F, 0x7F):
        yield f"name-control-{code}", bob_list(entry(2, b"user.%c" % code, b""))
    yield "unsorted", entry(3, b"class", f.u64(1)) + entry(1, b"account", b"bob") + last
    yield "unsorted-prefix", bob_list() + entry(2, b"user.ab", b"") + entry(2, b"user.a", b"")
    yield "unsorted-high", bob_list() + entry(2, "user.é".encode(), b"") + entry(2, b"user.z", b"")
    yield "doubled", good + last
    yield "doubled-other-value", good + entry(1, b"service", b"gitlab")
    yield "trailing-zero", good + b"\0"
    yield "trailing-type", good + b"\2"
    yield "trailing-name-length", good + b"\2\1\0"
    yield "cut-last", good[:-1]
    yield "cut-value-length", good[:-len(b"github") - 2]
    yield "cut-no-value", good[:-len(b"github")]
    yield "cut-in-name", good + entry(2, b"user.x", b"")[:6]
    yield "value-length-max", good + b"\2\6\0user.x" + b"\xff" * 4
    yield "text-65537", bob_list(entry(1, b"user.x", bytes(65_537)))
    yield "data-65537", bob_list(entry(2, b"user.x", bytes(65_537)))
    yield "zeros", bytes(40)
    yield "text-instead", b"account=bob"


def group_list(name=entry(1, b"name", b"default"), created=entry(4, b"created", f.u64(5))):
    return created + name


def vectors(add):
    # R34, R35
    for what, edit in {
        "kind-0": dict(kind=0), "kind-7": dict(kind=7), "kind-255": dict(kind=255), "class-0": dict(cls=0),
        "class-6": dict(cls=6), "flags-1": dict(flags=1), "flags-high": dict(flags=0x8000), "epoch-0": dict(epoch=0),
        "ver-0": dict(ver=0), "ver-above": dict(ver=8), "ver-max": dict(ver=2 ** 64 - 1),
    }.items():
        add("meta-" + what, "R34", "get", records=bob(**edit))
        if what not in ("class-0",):
            add("meta-group-" + what, "R34", "get", records=group(**edit))
    add("meta-aside-kind-7", "R34", "list", records=lambda v: v.other_kind(7, prefix=b"\1"))
    add("meta-aside-kind-3-ver-above", "R34", "verify", records=lambda v: v.records.update(
        {bytes(16): (f.ZERO16, f.pack_m(3, 1, 1, 8), bytes(168), f.HASH(bytes(168)), bytes(168))}))
    add("meta-item-grp-zero", "R35", "get", records=bob(grp=f.ZERO16))
    add("meta-item-grp-zero-system-key", "R35", "get", records=bob(grp=f.ZERO16, gk=lambda v: v.keys.sys))
    add("meta-group-grp", "R35", "get", records=group(grp=lambda v: v.groups["default"].gid))
    add("meta-group-class-2", "R35", "get", records=group(cls=2))
    add("meta-group-epoch-2", "R35", "get", records=group(epoch=2))
    add("meta-group-old-epoch", "R35", "get", header=lambda v: v.header.__dict__.update(epoch=2))
    for kind in (3, 4, 5):
        add(f"meta-kind-{kind}-grp", "R35", "verify", records=lambda v, k=kind: v.other_kind(k, b"\1" * 16))
    add("meta-kind-3-class-2", "R35", "verify", records=lambda v: v.records.update(
        {bytes(16): (f.ZERO16, f.pack_m(3, 2, 1, 1), bytes(168), f.HASH(bytes(168)), bytes(168))}))

    # R51
    for kind, firsts in {1: (0x00, 0x80, 0xFF), 2: (0x01, 0x7F, 0x80), 3: (0x01, 0xFF), 4: (0x01, 0x80), 5: (0x7F, 0x80),
                         6: (0x00, 0x01, 0x7F)}.items():
        for first in firsts:
            add(f"kind-{kind}-under-{first:02x}", "R51", "list" if 1 <= first <= 0x7F else "verify",
                records=lambda v, k=kind, b=bytes([first]): v.other_kind(k, prefix=b))

    # R36
    for column, name in ((2, "a"), (4, "s")):
        for n in (0, 1, 40, 167, 169, 167 + 128, 40 + 384, 40 + 4096 + 2048):
            add(f"box-{name}-{n}", "R36", "get", records=resealed(lambda v: v.bob, column, n))
        add(f"box-group-{name}-169", "R36", "get", records=resealed(lambda v: v.group, column, 169))

    # R37
    add("group-unknown", "R37", "get", records=bob(grp=b"\7" * 16))
    add("group-class-without-key", "R37", "get", records=bob(cls=3))
    add("group-epoch-without-key", "R37", "get", records=bob(epoch=2))
    add("group-only-other-epoch", "R37", "get", records=lambda v: (
        v.groups["default"].keys.update({(1, 2): v.groups["default"].keys.pop((1, 1))}), v.put_group()))
    add("group-record-deleted", "R37", "verify", records=lambda v: v.records.pop(v.groups["work"].id))

    # R38: a valid leaf over boxes that were sealed for another place
    def sealed(**place):
        return bob(sealed=lambda v: {k: x(v) if callable(x) else x for k, x in place.items()})
    m = f.pack_m
    add("seal-other-vault", "R38", "get", records=sealed(vid=bytes(16)))
    add("seal-other-id", "R38", "get", records=sealed(id_=lambda v: v.eve))
    add("seal-other-group", "R38", "get", records=sealed(grp=lambda v: v.groups["work"].gid))
    add("seal-other-group-key", "R38", "get", records=bob(gk=lambda v: v.groups["work"].gks[1, 1]))
    add("seal-other-kind", "R38", "get", records=sealed(m=m(6, 1, 1, 7)))
    add("seal-other-class", "R38", "get", records=sealed(m=m(1, 2, 1, 7)))
    add("seal-other-class-key", "R38", "get", records=bob(gk=lambda v: v.groups["default"].gks[2, 1]))
    add("seal-other-epoch", "R38", "get", records=sealed(m=m(1, 1, 2, 7)))
    add("seal-other-version", "R38", "get", records=sealed(m=m(1, 1, 1, 6)))
    add("seal-other-flags", "R38", "get", records=sealed(m=m(1, 1, 1, 7, 1)))
    add("seal-fields-exchanged", "R38", "get", records=bob(fields=(2, 1)))
    add("seal-fields-same", "R38", "get", records=bob(fields=(1, 1)))
    add("seal-zero-key", "R38", "get", records=bob(gk=bytes(32)))
    add("seal-class-changed", "R38", "get", records=bob(
        cls=2, gk=lambda v: v.groups["default"].gks[1, 1], sealed={"m": m(1, 1, 1, 7)}))
    add("seal-moved-to-group", "R38", "get", records=bob(
        grp=lambda v: v.groups["work"].gid, sealed=lambda v: {"grp": v.groups["default"].gid}))
    for column, name in ((2, "a"), (4, "s")):
        for at, what in ((0, "nonce"), (24, "mac"), (40, "ciphertext"), (167, "end")):
            add(f"seal-{name}-{what}", "R38", "get", records=lambda v, c=column, i=at: v.flip(v.bob, c, i))
        add(f"seal-group-{name}", "R38", "get", records=lambda v, c=column: v.flip(v.group, c, 60))
    add("seal-group-other-key", "R38", "get", records=group(gk=bytes(32)))
    add("seal-group-other-epoch", "R38", "get", records=group(sealed={"m": m(2, 1, 2, 1)}))
    add("seal-aside-a", "R38", "list", records=lambda v: v.flip(v.eve, 2, 60))
    add("seal-aside-s", "R38", "verify", records=lambda v: v.flip(v.eve, 4, 60))

    def device_box(change, cls=3):
        """Changes the stored box of a class of the group; bob is of class 3."""
        def edit(v):
            g = v.groups["default"]
            g.keys[cls, 1] = change(v, g)
            v.put_group()
        return edit
    device = dict(device=True, cls=3)

    def device_vector(name, rule, change, operation="get", cls=3, **more):
        add("device-" + name, rule, operation, options=device, records=device_box(change, cls), **more)
    device_vector("box-changed", "R48", lambda v, g: g.keys[3, 1][:-1] + bytes([g.keys[3, 1][-1] ^ 1]))
    device_vector("box-nonce", "R48", lambda v, g: b"\0" * 24 + g.keys[3, 1][24:])
    device_vector("box-of-class-4", "R48", lambda v, g: g.keys[4, 1])
    device_vector("box-of-other-group", "R48", lambda v, g: v.groups["work"].keys[3, 1])
    device_vector("box-of-epoch-2", "R48", lambda v, g: v.device_box(g.gid, 3, 2, g.gks[3, 1]))
    device_vector("box-padding", "R39", lambda v, g: v.device_box(
        g.gid, 3, 1, b"", padded=g.gks[3, 1] + OLD + bytes(94) + b"\1"))
    device_vector("box-no-mark", "R39", lambda v, g: v.device_box(g.gid, 3, 1, b"", padded=bytes(128)))
    for n in (0, 31, 33):
        device_vector(f"key-{n}", "R43", lambda v, g, n=n: v.device_box(g.gid, 3, 1, b"\5" * n))
    add("device-other-key", "R48", "get", options=device, files=lambda v: {".device": DEVICE_KEY[::-1]})

    # R39
    for field in ("a", "s"):
        plain = bob_list() if field == "a" else b"hunter2"
        for what, padded in {
            "zeros": bytes(128), "no-mark": plain + bytes(128 - len(plain)),
            "mark-81": plain + b"\x81" + bytes(127 - len(plain)),
            "byte-at-end": plain + OLD + bytes(126 - len(plain)) + b"\1",
            "byte-after-mark": plain + OLD + b"\1" + bytes(126 - len(plain)),
            "too-large-256": plain + OLD + bytes(255 - len(plain)),
            "too-large-8192": plain + OLD + bytes(8191 - len(plain)),
            "full-without-mark": (plain + b"x" * 128)[:128], "mark-first-of-256": OLD + bytes(255),
            "too-large-by-one-step": b"x" * 127 + OLD + bytes(128),
        }.items():
            add(f"padding-{field}-{what}", "R39", "get", records=bob(**{"pad_" + field: padded}))
            if what in ("zeros", "too-large-256"):
                add(f"padding-group-{field}-{what}", "R39", "get", records=group(**{"pad_" + field: padded}))
        add(f"padding-{field}-1048577", "R39", "get", records=bob(
            **{"pad_" + field: bytes([7]) * 1_048_577 + OLD + bytes(4094)}))

    # R40
    for name, b in list_faults():
        add("list-" + name, "R40", "get", records=bob(a=b))
    for name, b in {"unsorted": entry(1, b"name", b"default") + entry(4, b"created", f.u64(5)),
                    "trailing": group_list() + b"\0", "type-9": group_list() + entry(9, b"user.x", b""),
                    "utf-8": group_list(entry(1, b"name", b"default\xff")), "cut": group_list()[:-1]}.items():
        add("list-group-" + name, "R40", "get", records=group(a=b))
    add("list-aside", "R40", "list", records=lambda v: v.put_item(v.eve, a=bob_list() + b"\0"))

    # R41
    for name, b in {
        "empty": b"", "no-class": bob_list(drop=[b"class"]), "class-0": bob_list(entry(3, b"class", f.u64(0))),
        "class-6": bob_list(entry(3, b"class", f.u64(6))), "class-257": bob_list(entry(3, b"class", f.u64(257))),
        "class-max": bob_list(entry(3, b"class", f.u64(2 ** 64 - 1))),
        "class-text": bob_list(entry(1, b"class", b"1")), "class-time": bob_list(entry(4, b"class", f.u64(1))),
        "account-data": bob_list(entry(2, b"account", b"bob")), "account-empty": bob_list(entry(1, b"account", b"")),
        "service-integer": bob_list(entry(3, b"service", f.u64(1))),
        "service-empty": bob_list(entry(1, b"service", b"")),
        "label-data": bob_list(entry(2, b"label", b"x")), "label-integer": bob_list(entry(3, b"label", f.u64(1))),
        "confirm-text": bob_list(entry(1, b"confirm", b"5")),
        "install-bound-data": bob_list(entry(2, b"install-bound", b"x")),
        "comment-time": bob_list(entry(4, b"comment", f.u64(1))),
        "created-integer": bob_list(entry(3, b"created", f.u64(1))),
        "created-text": bob_list(entry(1, b"created", b"now")),
        "modified-integer": bob_list(entry(3, b"modified", f.u64(1))),
        "port-0": bob_list(entry(3, b"class", f.u64(2)), entry(3, b"port", f.u64(0)), drop=[b"service"]),
        "port-time": bob_list(entry(3, b"class", f.u64(2)), entry(4, b"port", f.u64(1)), drop=[b"service"]),
        "server-empty": bob_list(entry(3, b"class", f.u64(2)), entry(1, b"server", b""), drop=[b"service"]),
        "end-date-0": bob_list(entry(3, b"class", f.u64(3)), entry(4, b"end-date", f.u64(0)), drop=[b"service"]),
        "label-data-empty": bob_list(entry(3, b"class", f.u64(3)), entry(2, b"application-label", b"")),
        "tag-text": bob_list(entry(3, b"class", f.u64(3)), entry(1, b"application-tag", b"x")),
        "issuer-text": bob_list(entry(3, b"class", f.u64(4)), entry(1, b"issuer", b"x")),
        "serial-empty": bob_list(entry(3, b"class", f.u64(4)), entry(2, b"serial-number", b"")),
        "title-empty": bob_list(entry(3, b"class", f.u64(5)), entry(1, b"title", b"")),
        "title-data": bob_list(entry(3, b"class", f.u64(5)), entry(2, b"title", b"x")),
    }.items():
        add("item-" + name, "R41", "get", records=bob(a=b))

    # R54, R55
    for rule, what, text_ in (("R54", "line-end", "a\nb"), ("R54", "delete", "a\x7f"), ("R54", "zero", "\0"),
                              ("R55", "1025", "x" * 1025), ("R55", "1025-bytes", "é" * 513)):
        attributes = {**BOB, "service": (f.TEXT, text_)}
        add("limit-" + what, rule, "verify", records=lambda v, x=attributes: v.put_item(
            a=f.pack_list(x), at=f.item_id(v.groups["default"].ik, x)))

    # R42
    name, created = entry(1, b"name", b"default"), entry(4, b"created", f.u64(5))
    for what, b in {
        "empty": b"", "no-name": created, "no-created": name, "name-data": created + entry(2, b"name", b"default"),
        "name-integer": created + entry(3, b"name", f.u64(1)), "name-empty": created + entry(1, b"name", b""),
        "name-256": created + entry(1, b"name", b"x" * 256), "name-control": created + entry(1, b"name", b"defa\nult"),
        "name-zero-byte": created + entry(1, b"name", b"default\0"), "name-delete": created + entry(1, b"name", b"\x7f"),
        "created-integer": entry(3, b"created", f.u64(5)) + name, "created-text": entry(1, b"created", b"5") + name,
        "created-data": entry(2, b"created", f.u64(5)) + name,
    }.items():
        add("group-" + what, "R42", "get", records=group(a=b))

    # R43
    def plain(v, entries=None, n=None, gid=None, tail=b""):
        g = v.groups["default"]
        entries = entries if entries is not None else [(1, 1), (2, 1)]
        return ((gid or g.gid) + g.ik + f.u8(len(entries) if n is None else n)
                + b"".join(f.u8(x[0]) + (x[2] if len(x) > 2 else bytes(3)) + f.u32(x[1])
                           + (v.device_box(g.gid, *x[:2], bytes(32)) if x[0] in (3, 4, 5) else
                              g.gks.get(x[:2], b"\6" * 32)) for x in entries) + tail)
    for what, change in {
        "no-keys": dict(entries=[]), "n-0-with-keys": dict(n=0), "n-1-of-2": dict(n=1), "n-3-of-2": dict(n=3),
        "n-255": dict(n=255), "trailing": dict(tail=b"\0"), "unsorted": dict(entries=[(2, 1), (1, 1)]),
        "unsorted-epoch": dict(entries=[(1, 2), (1, 1), (2, 1)]), "doubled": dict(entries=[(1, 1), (1, 1), (2, 1)]),
        "class-0": dict(entries=[(0, 1), (1, 1)]), "class-6": dict(entries=[(1, 1), (6, 1)]),
        "class-255": dict(entries=[(1, 1), (255, 1)]), "epoch-0": dict(entries=[(1, 0), (1, 1)]),
        "mark-2": dict(entries=[(1, 1, b"\2\0\0"), (2, 1)]), "mark-255": dict(entries=[(1, 1, b"\xff\0\0"), (2, 1)]),
        "reserved-2": dict(entries=[(1, 1, b"\0\1\0"), (2, 1)]),
        "reserved-3": dict(entries=[(1, 1), (2, 1, b"\0\0\x80")]), "gid-zero": dict(gid=bytes(16)),
    }.items():
        add("group-" + what, "R43", "get", records=lambda v, x=change: v.put_group(s=plain(v, **x)))
    for n in (0, 16, 48, 49, 56, 57, 88, 128):
        add(f"group-cut-{n}", "R43", "get", records=lambda v, n=n: v.put_group(s=plain(v)[:n]))
    add("group-device-key-plain", "R43", "get", records=lambda v: v.put_group(
        s=plain(v, n=3, tail=b"\3" + bytes(3) + f.u32(1) + bytes(32))))
    add("group-plain-key-boxed", "R43", "get", records=lambda v: v.put_group(
        s=plain(v, entries=[(1, 1)], n=2, tail=b"\2" + bytes(3) + f.u32(1) + bytes(168))))
    add("group-gid-claimed-twice", "R43", "verify", records=lambda v: v.add_group("twin", gid=v.groups["default"].gid))

    # R44
    add("id-item-renamed", "R44", "get", records=bob(a=f.pack_list({**BOB, "account": (f.TEXT, "eve2")})))
    add("id-item-case", "R44", "get", records=bob(a=f.pack_list({**BOB, "service": (f.TEXT, "GitHub")})))
    add("id-item-no-account", "R44", "get", records=bob(a=bob_list(drop=[b"account"])))
    add("id-item-other-class", "R44", "get", records=bob(a=f.pack_list({"class": (f.INTEGER, 5),
                                                                         "title": (f.TEXT, "bob")})))
    add("id-item-copied", "R44", "list", records=lambda v: v.put_item(at=b"\1" * 16))
    add("id-item-other-group", "R44", "get", records=bob(
        grp=lambda v: v.groups["work"].gid, gk=lambda v: v.groups["work"].gks[1, 1]))
    add("id-group-renamed", "R44", "get", records=group(a=group_list(entry(1, b"name", b"Default"))))
    add("id-group-copied", "R44", "verify", records=lambda v: v.put_group(at=b"\0" + b"\1" * 15))

    # R50, and what concerns access rules of those above
    def rule(name, code, attributes, **more):
        add("rule-" + name, code, "verify", records=lambda v: v.put_rule(attributes, **{"id_": b"\0" + b"\1" * 15, **more}))
    text, integer, time, data = (lambda x, t=t: (t, x) for t in (f.TEXT, f.INTEGER, f.TIME, f.DATA))
    rule("no-name", "R50", pin(rule=None))
    rule("empty", "R50", {})
    rule("name-data", "R50", pin(rule=data(b"pin")))
    for what in ("team-key", "identifier", "name", "version", "installed"):
        rule(f"pin-no-{what}", "R50", pin(**{what: None}))
    for what in ("application", "group", "rights", "confirm", "created"):
        rule(f"grant-no-{what}", "R50", grant(**{what: None}))
    for what, value in {
        "team-key": text("x" * 32), "identifier": data(b"a.b"), "name": integer(1), "version": time(1),
        "installed": integer(1), "removed": integer(1),
    }.items():
        rule(f"pin-type-{what}", "R50", pin(**{what: value}))
    for what, value in {"application": data(b"x"), "group": data(b"x"), "rights": time(1), "confirm": text("0"),
                        "created": integer(1)}.items():
        rule(f"grant-type-{what}", "R50", grant(**{what: value}))
    for n in (0, 31, 33):
        rule(f"pin-key-{n}", "R50", pin(team_key=bytes(n)))
    for what, text_ in {"empty": "", "one-part": "editor", "dot": ".", "empty-part": "a..b", "first": ".a.b", "last": "a.b.",
                        "hyphen-first": "a.-b", "hyphen-last": "a-.b", "underscore": "a.b_c", "letter": "a.é", "slash": "a.b/c",
                        "line-end": "a.b\n", "156": "a." + "x" * 154}.items():
        rule("pin-identifier-" + what, "R50", pin(text_))
    for what, values in {"rights-8": dict(rights=8), "rights-257": dict(rights=257), "rights-max": dict(rights=2 ** 64 - 1),
                         "confirm-2": dict(confirm=2), "group-empty": dict(group=""), "group-256": dict(group="x" * 256),
                         "group-control": dict(group="a\nb")}.items():
        rule("grant-" + what, "R50", grant(**values))
    rule("pin-secret", "R50", pin(), s=b"x", id_=None)
    rule("grant-secret", "R50", grant(), s=b"x", id_=None)
    rule("pin-other-id", "R44", pin())
    rule("grant-other-id", "R44", grant())
    rule("pin-other-app", "R44", pin(), at=b"\0" + b"\2" * 15)
    rule("list", "R40", f.pack_list(pin()) + b"\0")
    rule("padding", "R39", pin(), pad_a=bytes(128))
    rule("padding-secret", "R39", pin(), id_=None, pad_s=bytes(128))
    rule("seal", "R38", pin(), id_=None, gk=bytes(32))
    rule("seal-fields", "R38", pin(), id_=None, fields=(1, 1))
    rule("later-seal-secret", "R38", {"rule": text("lease")}, fields=(1, 1))
    add("box-rule-a-169", "R36", "verify", records=lambda v: resealed(lambda v: v.put_rule(pin()), 2, 169)(v))

    # R56 to R58
    def former(name, code, entries=None, operation="verify", **more):
        add("former-" + name, code, operation, records=lambda v: (
            v.name_former(*(entries or [(v.bob, 1, 9)])), v.put_former(**{"number": 1, **more})))
    entry32 = lambda number, time=9: (b"\1" * 16, number, time)    # noqa: E731
    for name, value in {"empty": data(b""), "31": data(bytes(31)), "33": data(bytes(33)), "65": data(b"".join(
            f.pack_former([entry32(65 - n)]) for n in range(65))), "text": text("x" * 32), "ascending": data(
            f.pack_former([entry32(1), entry32(2)])), "doubled": data(f.pack_former([entry32(1)] * 2)),
            "times-ascend": data(f.pack_former([entry32(2, 1), entry32(1, 2)]))}.items():
        add("former-list-" + name, "R56", "get", records=lambda v, x=value: v.put_item(
            a=f.pack_list({**v.items[v.bob].attributes, "former": x})))
    add("former-version-of-item-time", "R56", "get", records=lambda v: v.put_item(
        a=f.pack_list({**v.items[v.bob].attributes, "origin-version": time(1)})))
    for name, edits in {"no-origin": {"origin": None}, "origin-15": {"origin": data(bytes(15))}, "origin-text": {"origin": text("x" * 16)},
                        "no-version": {"origin-version": None}, "version-time": {"origin-version": time(1)},
                        "no-time": {"replaced": None}, "both-times": {"deleted": time(9)}, "time-integer": {"replaced": integer(9)},
                        "with-former": {"former": data(f.pack_former([entry32(1)]))}}.items():
        former(name, "R56", edits=edits)
    former("no-class", "R41", edits={"class": None})
    former("other-version", "R44", edits={"origin-version": integer(2)})
    former("other-origin", "R44", edits={"origin": data(b"\1" * 16)})
    former("head-as-former", "R44", edits={"replaced": None, "deleted": time(9)})
    former("seal", "R38", gk=bytes(32))
    former("seal-as-item", "R38", sealed=dict(m=m(1, 1, 1, 7)))
    former("group-zero", "R37", grp=f.ZERO16)
    former("list", "R40", a=bob_list() + b"\0")
    former("padding", "R39", pad_s=bytes(128))
    add("former-as-item", "R34", "get", records=lambda v: (
        v.put_former(1), v.records.update({v.bob: (v.records[f.former_id(v.groups["default"].ik, v.bob, 1)][0], bytes(16),
                                                   *v.records[f.former_id(v.groups["default"].ik, v.bob, 1)][2:])})))
    add("former-as-item-kind-6", "R51", "list", records=lambda v: v.put_former(1, at=b"\2" * 16))
    add("former-missing", "R57", "verify", records=lambda v: v.name_former((v.bob, 1, 9)))
    add("former-missing-of-head", "R57", "verify", records=lambda v: (
        v.put_former(3, head=True, owner=v.eve, entries=[(v.eve, 1, 8)]), v.records.pop(v.eve)))
    add("former-unlisted", "R58", "verify", records=lambda v: v.put_former(1))
    add("former-hidden", "R32", "verify", records=lambda v: (v.name_former((v.bob, 1, 9)), v.put_former(1)), tables=lambda v: setattr(
        v, "rec", [row for row in v.rec if row[0][0] < 0x80]))

    # R59
    for name, edits in {"no-policy": {"policy": None}, "policy-data": {"policy": data(b"limits")},
                        "versions-65": {"history-versions": integer(65)}, "versions-time": {"history-versions": time(1)},
                        "days-3651": {"history-days": integer(3651)}, "passes-2": {"kdf-passes": integer(2)},
                        "memory-65535": {"kdf-memory": integer(65_535)}, "idle-max": {"idle-minutes": integer(2 ** 64 - 1)}}.items():
        add("policy-" + name, "R59", "verify", records=lambda v, x=edits: v.put_policy(x))
    add("policy-secret", "R59", "verify", records=lambda v: v.put_policy({}, s=b"x"))
    add("policy-other-id", "R44", "verify", records=lambda v: v.put_policy({}, id_=b"\0" + b"\1" * 15))
