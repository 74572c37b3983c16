"""Vectors for R1 to R27: container, schema, columns, header, slots, ring, anchors."""
import coffer_format as f
from forge import KEY_FILE, Forge


def header_edit(**values):
    return lambda v: v.header.__dict__.update(values)


def bytes_at(offset, new):
    def edit(v):
        v.file[offset:offset + len(new)] = new
    return edit


def cut(n):
    def edit(v):
        del v.file[n:]
    return edit


def damage_page(table):
    return lambda v: bytes_at((v.roots[table] - 1) * 4096, b"\xEE\xEE\xEE\xEE")(v)


def patched(row, offset, new):
    return row[:offset] + new + row[offset + len(new):]


def hdr_value(k, value):
    """Replaces, adds or (value None) removes a stored row of hdr; value may be a function of the old one."""
    def edit(v):
        old = dict(v.hdr).get(k)
        new = value(old) if callable(value) else value
        v.hdr = [x for x in v.hdr if x[0] != k] + ([] if new is None else [(k, new)])
    return edit


def second_slot(row):
    """A second slot beside the one that opens the vault; row is made from the Forge."""
    return lambda v: v.slots.update({2: row(v)})


def slot_patch(offset, new, type_=None):
    """The second slot, of a type, with bytes replaced."""
    def row(v):
        if type_ in (1, 4):
            base = v.unusable_slot(type_)
        elif type_ == 5:
            base = v.slot(f.Credential(external=lambda ext: bytes(32)), ext=b"\1\2\3\4")
        else:
            base = v.slot(f.Credential(recovery=bytes(32))) if type_ == 2 else v.slot()
        return patched(base, offset, new)
    return second_slot(row)


def vectors(add):
    # R1 to R3
    add("container-empty", "R1", "open", file=cut(0))
    add("container-99-bytes", "R1", "open", file=cut(99))
    add("container-magic", "R2", "open", file=bytes_at(0, b"SQLite format 4\0"))
    add("container-magic-end", "R2", "open", file=bytes_at(15, b"\1"))
    add("container-text", "R2", "open", file=bytes_at(0, b"#" * 100))
    add("container-page-size-8192", "R2", "open", file=bytes_at(16, b"\x20\0"))
    add("container-page-size-1", "R2", "open", file=bytes_at(16, b"\0\1"))
    add("container-application-id", "R2", "open", file=bytes_at(68, b"CFV3"))
    add("container-draft", "R53", "open", file=bytes_at(68, b"CFV1"))
    add("container-application-id-0", "R2", "open", file=bytes_at(68, bytes(4)))
    add("container-user-version-0", "R2", "open", file=bytes_at(60, bytes(4)))
    add("container-user-version-2", "R3", "open", file=bytes_at(60, b"\0\0\0\2"))
    add("container-user-version-high", "R3", "open", file=bytes_at(60, b"\x80\0\0\1"))

    # R4
    for n in (100, 512, 4096, 8192):
        add(f"damaged-cut-{n}", "R4", "open", file=cut(n))
    add("damaged-cut-last-page", "R4", "open", file=lambda v: cut(len(v.file) - 4096)(v))
    add("damaged-fractions", "R4", "open", file=bytes_at(21, b"\1\1\1"))
    add("damaged-schema-page", "R4", "open", file=bytes_at(100, b"\xEE"))
    add("damaged-schema-sql", "R5", "open",
        sql=lambda v: ["UPDATE sqlite_schema SET sql='CREATE NONSENSE' WHERE name='rec'"])
    add("damaged-hdr-page", "R4", "open", file=damage_page("hdr"))
    add("damaged-node-page", "R4", "get", file=damage_page("node"))
    add("damaged-rec-page", "R4", "get", file=damage_page("rec"))

    # R5
    for name, statements in {
        "extra-table": ["CREATE TABLE x(y)"],
        "extra-index": ["CREATE INDEX x ON hdr(v)"],
        "extra-view": ["CREATE VIEW x AS SELECT 1"],
        "extra-trigger": ["CREATE TRIGGER x AFTER DELETE ON rec BEGIN DELETE FROM node; END"],
        "statistics": ["ANALYZE"],
        "index-of-the-draft": ["CREATE INDEX rec_grp ON rec(grp)"],
        "columns-of-the-draft": ["DROP TABLE rec", "CREATE TABLE rec(id BLOB PRIMARY KEY,grp BLOB NOT NULL,m BLOB NOT NULL,"
                                 "a BLOB NOT NULL,s BLOB NOT NULL) WITHOUT ROWID"],
        "no-node": ["DROP TABLE node"],
        "no-rec": ["DROP TABLE rec"],
        "no-hdr": ["DROP TABLE hdr"],
        "all-gone": ["DROP TABLE hdr", "DROP TABLE rec", "DROP TABLE node"],
        "extra-column": ["ALTER TABLE node ADD COLUMN x"],
        "column-renamed": ["ALTER TABLE hdr RENAME COLUMN v TO w"],
        "table-renamed": ["ALTER TABLE hdr RENAME TO head"],
        "index-partial": ["CREATE INDEX rec_m ON rec(m) WHERE a IS NULL"],
        "index-unique": ["CREATE UNIQUE INDEX rec_id ON rec(id,grp)"],
        "replaced-by-view": ["DROP TABLE node", "CREATE VIEW node AS SELECT x'' AS p,x'' AS b"],
        "automatic-index": ["DROP TABLE node", "CREATE TABLE node(p BLOB PRIMARY KEY,b BLOB NOT NULL)"],
        "sql-space": ["UPDATE sqlite_schema SET sql=replace(sql,'k INTEGER','k  INTEGER') WHERE name='hdr'"],
        "sql-case": ["UPDATE sqlite_schema SET sql=replace(sql,'BLOB','blob') WHERE name='rec'"],
        "sql-comment": ["UPDATE sqlite_schema SET sql=sql||' ' WHERE name='node'"],
        "sql-type": ["UPDATE sqlite_schema SET sql=replace(sql,'b BLOB','b TEXT') WHERE name='node'"],
        "sql-nullable": ["UPDATE sqlite_schema SET sql=replace(sql,'v BLOB NOT NULL','v BLOB') WHERE name='hdr'"],
        "type-case": ["UPDATE sqlite_schema SET type='TABLE' WHERE name='hdr'"],
        "name-case": ["UPDATE sqlite_schema SET name='HDR' WHERE name='hdr'"],
        "tbl-name-case": ["UPDATE sqlite_schema SET tbl_name='REC' WHERE name='rec'"],
    }.items():
        add("schema-" + name, "R5", "open", sql=lambda v, s=statements: s)

    # R6
    add("column-header-text", "R6", "open", tables=hdr_value(0, "x" * 256))
    add("column-header-257", "R6", "open", tables=hdr_value(0, lambda b: b + b"\0"))
    add("column-header-integer", "R6", "open", tables=hdr_value(0, 7))
    add("column-slot-text", "R6", "open", tables=hdr_value(1, "x" * 160))
    add("column-slot-4257", "R6", "open", tables=hdr_value(2, bytes(4257)))
    add("column-ring-text", "R6", "open", tables=hdr_value(9, "x" * 192))
    add("column-ring-65", "R6", "open", options=dict(generation=100),
        header=lambda v: setattr(v, "ring", v.random(32) + v.ring))
    add("column-node-text", "R6", "get", tables=lambda v: setattr(v, "node", [(b"", "x" * 48)]))
    add("column-node-real", "R6", "get", tables=lambda v: setattr(v, "node", [(b"", 1.5)]))
    add("column-node-196609", "R6", "get",
        leaves=lambda v: v.body_edits.update({b"": lambda b: b + bytes(196_609 - len(b))}))
    for i, column in enumerate(("grp", "m", "a", "d", "s"), 1):
        def stored(value, i=i):
            def edit(v):
                v.rec = [row[:i] + (value(row[i]),) + row[i + 1:] if row[0] == v.bob else row for row in v.rec]
            return edit

        def proven(value, i=i):
            def edit(v):
                row = v.records[v.bob]
                v.records[v.bob] = row[:i - 1] + (value(row[i - 1]),) + row[i:]
            return edit
        add(f"column-{column}-text", "R6", "get", tables=stored(lambda b: "x" * len(b)))
        add(f"column-{column}-integer", "R6", "get", tables=stored(lambda b: 5))
        if column in ("grp", "m"):
            add(f"column-{column}-15", "R6", "get", records=proven(lambda b: b[:15]))
            add(f"column-{column}-17", "R6", "get", records=proven(lambda b: b + b"\0"))
        elif column == "d":
            add("column-d-31", "R6", "get", records=proven(lambda b: b[:31]))
            add("column-d-33", "R6", "get", records=proven(lambda b: b + b"\0"))
        else:
            add(f"column-{column}-1052713", "R6", "get", records=proven(lambda b: bytes(1_052_713)))

    # R7 to R12
    add("hdr-no-header", "R7", "open", tables=hdr_value(0, None))
    add("hdr-255", "R7", "open", tables=hdr_value(0, lambda b: b[:255]))
    add("hdr-0-bytes", "R7", "open", tables=hdr_value(0, b""))
    add("hdr-no-slot", "R7", "open", tables=hdr_value(1, None))
    add("hdr-table-empty", "R7", "open", tables=lambda v: setattr(v, "hdr", []))
    for k in (10, -1, 2 ** 62):
        add(f"hdr-row-{k}", "R7", "open", tables=hdr_value(k, b"x"))
    add("header-magic", "R8", "open", header=header_edit(magic=b"CofferV2"))
    add("header-magic-case", "R8", "open", header=header_edit(magic=b"cofferV1"))
    add("header-major-0", "R8", "open", header=header_edit(major=0))
    add("header-major-2", "R9", "open", header=header_edit(major=2))
    add("header-major-65535", "R9", "open", header=header_edit(major=65535))
    add("header-incompatible-0", "R10", "open", header=header_edit(incompatible=1))
    add("header-incompatible-31", "R10", "open", header=header_edit(incompatible=1 << 31))
    add("header-read-only-1", "R11", "write", header=header_edit(read_only=2))
    add("header-read-only-31", "R11", "write", header=header_edit(read_only=1 << 31))
    add("header-depth-3", "R12", "open", header=header_edit(depth=3))
    add("header-depth-max", "R12", "open", header=header_edit(depth=0xFFFFFFFF))
    add("header-generation-0", "R12", "open", header=header_edit(generation=0))
    add("header-count-high", "R12", "open", header=header_edit(count=16_777_217))
    add("header-count-max", "R12", "open", header=header_edit(count=2 ** 64 - 1))
    add("header-epoch-0", "R12", "open", header=header_edit(epoch=0))
    add("header-slots-0", "R12", "open", header=header_edit(slots=0))
    add("header-slots-9", "R12", "open", header=header_edit(slots=9))
    add("header-reserved-72", "R12", "open", header=header_edit(zero1=b"\1" + bytes(7)))
    add("header-reserved-79", "R12", "open", header=header_edit(zero1=bytes(7) + b"\x80"))
    add("header-reserved-176", "R12", "open", header=header_edit(zero2=b"\1" + bytes(47)))
    add("header-reserved-223", "R12", "open", header=header_edit(zero2=bytes(47) + b"\1"))

    # R13 to R17: the second slot is wrong, the first would open the vault
    add("slot-159", "R13", "open", slots=second_slot(lambda v: v.slot()[:159]))
    add("slot-0-bytes", "R13", "open", slots=second_slot(lambda v: b""))
    add("slot-161", "R13", "open", slots=second_slot(lambda v: v.slot() + b"\0"))
    add("slot-ext-missing", "R13", "open", slots=slot_patch(48, f.u32(4), 3))
    add("slot-ext-short", "R13", "open", slots=slot_patch(48, f.u32(5), 5))
    add("slot-ext-long", "R13", "open", slots=slot_patch(48, f.u32(3), 5))
    add("slot-ext-4097", "R13", "open", slots=second_slot(
        lambda v: patched(v.slot(f.Credential(external=lambda e: bytes(32)), ext=bytes(4096)), 48, f.u32(4097))))
    for t in (0, 6, 255):
        add(f"slot-type-{t}", "R14", "open", slots=slot_patch(0, bytes([t])))
    add("slot-kdf-2", "R14", "open", slots=slot_patch(1, b"\2", 1))
    for t in (1, 2, 3, 4, 5):
        add(f"slot-type{t}-reserved-2", "R15", "open", slots=slot_patch(2, b"\1", t))
        add(f"slot-type{t}-reserved-52", "R15", "open", slots=slot_patch(55, b"\1", t))
        add(f"slot-type{t}-kdf", "R15", "open", slots=slot_patch(1, bytes([t not in (1, 4)]), t))
        add(f"slot-type{t}-p", "R15", "open", slots=slot_patch(12, f.u32(2 if t in (1, 4) else 1), t))
        if t in (1, 4):
            add(f"slot-type{t}-p0", "R15", "open", slots=slot_patch(12, f.u32(0), t))
        else:
            add(f"slot-type{t}-t", "R15", "open", slots=slot_patch(4, f.u32(3), t))
            add(f"slot-type{t}-m", "R15", "open", slots=slot_patch(8, f.u32(65536), t))
        if t != 5:
            add(f"slot-type{t}-ext", "R15", "open", slots=lambda v, t=t: (
                slot_patch(48, f.u32(1), t)(v), v.slots.update({2: v.slots[2] + b"\0"})))
    for t in (1, 4):
        add(f"slot-type{t}-t2", "R16", "open", slots=second_slot(lambda v, t=t: v.unusable_slot(t, t=2)))
        add(f"slot-type{t}-t0", "R16", "open", slots=second_slot(lambda v, t=t: v.unusable_slot(t, t=0)))
        add(f"slot-type{t}-m65535", "R16", "open", slots=second_slot(lambda v, t=t: v.unusable_slot(t, m=65535)))
        add(f"slot-type{t}-m0", "R16", "open", slots=second_slot(lambda v, t=t: v.unusable_slot(t, m=0)))
        files = {".pass": b"correct horse"} if t == 1 else {".pass": b"correct horse", ".key": KEY_FILE}
        for what, cost in (("t65", dict(t=65)), ("m4194305", dict(m=4_194_305)), ("t-max", dict(t=2 ** 32 - 1)),
                           ("m-max", dict(m=2 ** 32 - 1))):
            add(f"slot-type{t}-{what}", "R17", "open", files=lambda v, x=files: x,
                slots=second_slot(lambda v, t=t, c=cost: v.unusable_slot(t, **c)))

    # R18, R19
    def first(change):
        return lambda v: v.slots.update({1: change(v, v.slots[1])})

    def flip(offset):
        return first(lambda v, row: patched(row, offset, bytes([row[offset] ^ 1])))
    add("credential-other-key", "R18", "open", files=lambda v: {".key": KEY_FILE[::-1]})
    add("credential-longer-key", "R18", "open", files=lambda v: {".key": KEY_FILE + b"\n"})
    add("credential-no-such-type", "R49", "open", files=lambda v: {".recovery": f.recovery_text(bytes(32)).encode()})
    add("credential-other-recovery", "R18", "open", files=lambda v: {".recovery": f.recovery_text(bytes(32)).encode()},
        slots=second_slot(lambda v: v.slot(f.Credential(recovery=bytes(31) + b"\1"))))
    add("credential-other-passphrase", "R18", "open", files=lambda v: {".pass": b"correct horse"},
        slots=second_slot(lambda v: v.unusable_slot()))
    add("credential-passphrase-alone", "R49", "open", files=lambda v: {".pass": b"correct horse"},
        slots=second_slot(lambda v: v.unusable_slot(4)))
    for offset, what in ((16, "salt"), (31, "salt-end"), (32, "id"), (47, "id-end"), (56, "commitment"),
                         (87, "commitment-end")):
        add("slot-changed-" + what, "R18", "open", slots=flip(offset))
    add("slot-other-vault", "R18", "open", slots=first(lambda v, row: v.slot(vid=bytes(16))))
    add("header-vid-replaced", "R18", "open", signed=header_edit(vid=bytes(16)))
    for offset, what in ((88, "nonce"), (112, "mac"), (128, "ciphertext"), (159, "end")):
        add("slot-box-" + what, "R19", "open", slots=flip(offset))
    add("slot-box-swapped", "R19", "open", slots=first(lambda v, row: row[:88] + v.slot()[88:]))

    # R20
    for what, edit in {
        "minor": lambda h: h.__dict__.update(minor=1), "read-only": lambda h: h.__dict__.update(read_only=1),
        "depth": lambda h: h.__dict__.update(depth=1), "generation": lambda h: h.__dict__.update(generation=8),
        "count": lambda h: h.__dict__.update(count=h.count + 1), "created": lambda h: h.__dict__.update(created=1),
        "epoch": lambda h: h.__dict__.update(epoch=2), "slots": lambda h: h.__dict__.update(slots=2),
        "slots-digest": lambda h: h.__dict__.update(slots_digest=bytes(32)),
        "root": lambda h: h.__dict__.update(root_digest=bytes(32)),
        "previous": lambda h: h.__dict__.update(previous=bytes(32)),
        "mac-zero": lambda h: h.__dict__.update(mac=bytes(32)),
        "mac-bit": lambda h: h.__dict__.update(mac=h.mac[:31] + bytes([h.mac[31] ^ 0x80])),
    }.items():
        add("forged-header-" + what, "R20", "open", signed=lambda v, e=edit: e(v.header))
    add("forged-other-master-key", "R20", "open", slots=first(lambda v, row: v.slot(mk=bytes(32))))

    # R21
    two = second_slot(lambda v: v.slot(f.Credential(recovery=bytes(32))))
    add("slots-other-changed", "R21", "open", slots=two, tables=hdr_value(2, lambda b: patched(b, 16, b"\0\0\0\0")))
    add("slots-added", "R21", "open", tables=lambda v: v.hdr.append((2, v.slot())))
    add("slots-removed", "R21", "open", slots=two, tables=hdr_value(2, None))
    add("slots-moved", "R21", "open", tables=lambda v: setattr(v, "hdr", [(3 if k == 1 else k, x) for k, x in v.hdr]))
    add("slots-swapped", "R21", "open", slots=two,
        tables=lambda v: setattr(v, "hdr", [({1: 2, 2: 1}.get(k, k), x) for k, x in v.hdr]))
    add("slots-digest-zero", "R21", "open", header=lambda v: v.__dict__.update(digest_first=True))
    add("slots-count-2", "R21", "open", header=header_edit(slots=2))
    add("slots-count-1", "R21", "open", slots=two, header=header_edit(slots=1))
    add("slots-older-header", "R21", "open", tables=lambda v: hdr_value(0, f.Header(**{
        **v.header.__dict__, "generation": 6, "previous": v.ring[-64:-32],
        "slots_digest": f.slots_digest(v.keys.hdr, v.vid, {1: v.slots[1], 9: v.ring[:-32]})}).sign(v.keys.hdr).pack())(v))
    add("ring-changed", "R21", "open", tables=hdr_value(9, lambda b: b"\0" + b[1:]))
    add("ring-dropped", "R21", "open", tables=hdr_value(9, None))

    # R22: with a valid digest
    def ring(change, **values):
        def edit(v):
            v.ring = change(v, v.ring)
            v.header.__dict__.update(values)
        return edit
    add("ring-absent", "R22", "open", header=ring(lambda v, r: None))
    add("ring-short", "R22", "open", header=ring(lambda v, r: r[32:]))
    add("ring-long", "R22", "open", header=ring(lambda v, r: v.random(32) + r))
    add("ring-partial", "R22", "open", header=ring(lambda v, r: r[1:]))
    add("ring-0-bytes", "R22", "open", header=ring(lambda v, r: b""))
    add("ring-63-of-64", "R22", "open", options=dict(generation=100), header=ring(lambda v, r: r[32:]))
    add("ring-last-entry", "R22", "open", header=ring(lambda v, r: r[:-1] + bytes([r[-1] ^ 1])))
    add("ring-previous-differs", "R22", "open", header=header_edit(previous=bytes(32)))
    add("ring-newest-first", "R22", "open",
        header=ring(lambda v, r: b"".join(r[i:i + 32] for i in range(len(r) - 32, -1, -32))))
    first_generation = dict(generation=1)
    add("ring-at-generation-1", "R22", "open", options=first_generation, header=ring(lambda v, r: bytes(32)))
    add("ring-empty-at-generation-1", "R22", "open", options=first_generation, header=ring(lambda v, r: b""))
    add("previous-at-generation-1", "R22", "open", options=first_generation, header=header_edit(previous=bytes(31) + b"\1"))

    # R23 to R27
    add("anchor-95", "R23", "open", anchor=lambda v: v.anchor()[:95])
    add("anchor-191", "R23", "open", anchor=lambda v: (v.anchor(key=bytes(32)) + v.anchor())[:191])
    add("anchor-three", "R23", "open", anchor=lambda v: v.anchor() * 3)
    add("anchor-second-magic", "R23", "open", anchor=lambda v: v.anchor(key=bytes(32)) + b"CofferA2" + v.anchor()[8:])
    add("anchor-second-other-vault", "R24", "open", anchor=lambda v: v.anchor(key=bytes(32)) + v.anchor(vid=bytes(16)))
    add("anchor-two-of-other-keys", "R60", "open", anchor=lambda v: v.anchor(key=bytes(32)) * 2)
    add("anchor-second-fork", "R26", "open", anchor=lambda v: v.anchor(key=bytes(32)) + v.anchor(mac=bytes(32)))
    add("anchor-97", "R23", "open", anchor=lambda v: v.anchor() + b"\0")
    add("anchor-1", "R23", "open", anchor=lambda v: b"C")
    add("anchor-magic", "R23", "open", anchor=lambda v: b"CofferA2" + v.anchor()[8:])
    add("anchor-mac", "R60", "open", anchor=lambda v: v.anchor()[:95] + bytes([v.anchor()[95] ^ 1]))
    add("anchor-generation-changed", "R60", "open", anchor=lambda v: patched(v.anchor(), 24, f.u64(6)))
    add("anchor-header-mac-changed", "R60", "open", anchor=lambda v: patched(v.anchor(), 32, bytes(32)))
    add("anchor-other-master-key", "R60", "open", anchor=lambda v: v.anchor(key=bytes(32)))
    def second_master(v):
        v.header.__dict__.update(epoch=2)
        for name in v.groups:
            v.put_group(name, epoch=2)
    renewed = dict(records=second_master)
    add("anchor-old-master-key-now", "R60", "open", anchor=lambda v: v.anchor(key=bytes(32)), **renewed)
    add("anchor-old-master-key-newer", "R60", "open", anchor=lambda v: v.anchor(8, bytes(32), key=bytes(32)), **renewed)
    add("anchor-old-master-key", "R60", "open", anchor=lambda v: v.anchor(3, v.ring[64:96], key=bytes(32)), **renewed)
    add("anchor-old-master-key-fork", "R60", "open", anchor=lambda v: v.anchor(3, bytes(32), key=bytes(32)), **renewed)
    add("anchor-other-vault", "R24", "open", anchor=lambda v: v.anchor(vid=bytes(16)))
    add("anchor-other-vault-own-key", "R24", "open", anchor=lambda v: (
        lambda o: (o.header.sign(o.keys.hdr), o.anchor())[1])(Forge("another vault")))
    add("anchor-newer", "R25", "open", anchor=lambda v: v.anchor(8, bytes(32)))
    add("anchor-much-newer", "R25", "open", anchor=lambda v: v.anchor(2 ** 64 - 1, bytes(32)))
    add("anchor-newer-than-first", "R25", "open", options=first_generation, anchor=lambda v: v.anchor(2))
    add("anchor-fork-now", "R26", "open", anchor=lambda v: v.anchor(mac=bytes(32)))
    add("anchor-fork-first", "R26", "open", options=first_generation, anchor=lambda v: v.anchor(mac=bytes(32)))
    for then in (1, 3, 6):
        add(f"anchor-fork-then-{then}", "R27", "open", anchor=lambda v, g=then: v.anchor(g, bytes(32)))
    add("anchor-fork-off-by-one", "R27", "open", anchor=lambda v: v.anchor(3, v.ring[96:128]))
    add("anchor-fork-oldest-of-64", "R27", "open", options=dict(generation=100), anchor=lambda v: v.anchor(36, bytes(32)))
