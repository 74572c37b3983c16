"""Recomputes the worked values of Tests/Vectors/values.txt from their inputs."""
import unicodedata

import coffer_format as f

NONCE = bytes(range(24))
CREATED = 1_700_000_000
GK1, GK2, GK3 = b"\xa2" * 32, b"\xa4" * 32, b"\xa5" * 32


def _slots(out, v, vid, mk):
    nfc = f.normal_passphrase(v["slot1.passphrase-nfd"])
    out["slot1.passphrase"] = nfc
    out["slot1.passphrase-nfd"] = unicodedata.normalize("NFD", nfc.decode()).encode()
    salt1, salt = bytes(range(0x80, 0x90)), bytes(range(0xE0, 0xF0))
    id1, id2 = bytes(range(0x90, 0xA0)), bytes(range(0xF0, 0x100))
    passphrase, key_file = f.Credential(passphrase=nfc), f.Credential(key_file=v["keyfile.content"])
    both = f.Credential(passphrase=nfc, key_file=v["keyfile.content"])
    recovery = f.Credential(recovery=f.recovery_key(v["recovery.text"].decode()))
    external = f.Credential(external=lambda ext: bytes(range(0x20, 0x40)))
    for name, kind, who, t, m, s, i, ext in (
            ("slot1", 1, passphrase, 3, 65536, salt1, id1, b""), ("slot-type2", 2, recovery, 0, 0, salt, id2, b""),
            ("slot-type3", 3, key_file, 0, 0, salt, id2, b""), ("slot-type4", 4, both, 3, 65536, salt1, id2, b""),
            ("slot-type5", 5, external, 0, 0, salt, id2, b"\1\2\3")):
        head = f.slot_head(kind, s, i, t, m, ext)
        ikm = who.ikm(s, t, m, ext)
        kek, commitment = f.slot_keys(ikm, vid, head, ext)
        row = f.slot_row(ikm, vid, head, ext, NONCE, mk)
        out.update({name + ".ikm": ikm, name + ".bytes-0-55": head, name + ".kek": kek,
                    name + ".commitment": commitment, name + ".box": row[88:160], name + ".row": row})
        f.check_slot(row)
    return out["slot1.row"]


def compute(v):
    out = {}
    mk, vid = v["master-key"], v["vault-id"]
    keys = f.MasterKeys(mk, vid)
    out.update({"K_hdr": keys.hdr, "K_tree": keys.tree, "K_sys": keys.sys, "pad.empty": f.PAD(b""),
                "pad.hunter2": f.PAD(b"hunter2"), "box.hunter2": f.seal(bytes(range(32)), b"hunter2", NONCE)})
    out["recovery.check"] = f.recovery_check(v["recovery.key"])
    out["recovery.text"] = f.recovery_text(v["recovery.key"]).encode()
    slot = _slots(out, v, vid, mk)

    # Group
    gid, ik = v["group.gid"], v["group.IK"]
    out["group.record-id"] = group_id = f.group_id(keys.sys, "default")
    out["device.box-key"] = box_key = f.device_box_key(v["device.key"], vid, gid, 3, 1)
    out["device.box"] = device_box = f.seal(box_key, GK3, bytes(range(0x18, 0x30)))
    group_attributes = {"name": (f.TEXT, "default"), "created": (f.TIME, CREATED)}
    out["group.attributes"] = f.pack_list(group_attributes)
    entries = {(1, 1): v["group.key.class1.epoch1"], (2, 1): v["group.key.class2.epoch1"]}
    for ver in (1, 2):
        if ver == 2:
            entries[3, 1] = device_box
        out[f"group.secret.ver{ver}"] = f.pack_group(gid, ik, entries)

    def record(name, ver, kind, gk, id_, grp, a, s):
        m = f.pack_m(kind, 1, 1, ver)
        row = f.seal_row(gk, vid, id_, grp, m, (a, s), lambda n: NONCE)
        leaf = f.leaf_digest(keys.tree, vid, id_, *row)
        name = f"{name}.ver{ver}."
        return leaf, {name + "m": m, name + "SK1": f.record_key(gk, vid, id_, grp, m, 1),
                      name + "SK2": f.record_key(gk, vid, id_, grp, m, 2),
                      name + "a": row[2], name + "d": row[3], name + "s": row[4], name + "leaf": leaf}

    leaves = {}
    for ver in (1, 2):
        leaves[ver], values = record("group", ver, 2, keys.sys, group_id, f.ZERO16, out["group.attributes"],
                                     out[f"group.secret.ver{ver}"])
        out.update(values)

    # Items
    item = {"class": (f.INTEGER, 1), "account": (f.TEXT, "bob"), "service": (f.TEXT, "github"),
            "created": (f.TIME, CREATED), "modified": (f.TIME, CREATED)}
    out["item.primary"] = f.primary_list(item)[1]
    out["item.id"] = item_id = f.item_id(ik, item)
    out["item.attributes"], out["item.secret"] = f.pack_list(item), b"hunter2"
    item_leaves = {}
    for ver in range(3, 8):
        item_leaves[ver], values = record("item", ver, 1, GK1, item_id, gid, out["item.attributes"], b"hunter2")
    out.update(values)
    for n in (2, 3, 4, 5):
        attributes = {"class": (f.INTEGER, n), **f.parse_list(v[f"id{n}.primary"])}
        cls, out[f"id{n}.primary"] = f.primary_list(attributes)
        out[f"id{n}.id"] = f.item_id(ik, attributes)

    # Former versions: two of the item above, then the head that it leaves; and the policy. No rows of the vault below.
    former = f.pack_former([(item_id, 6, CREATED + 120), (item_id, 3, CREATED + 60)])
    out["history.former"] = former
    out["history.item"] = f.pack_list(item | {"former": (f.DATA, former), "origin-version": (f.INTEGER, 7)})
    origin = {"origin": (f.DATA, item_id)}
    out["history.id"] = former_id = f.former_id(ik, item_id, 6)
    out["history.attributes"] = f.pack_list(
        item | origin | {"origin-version": (f.INTEGER, 6), "replaced": (f.TIME, CREATED + 120)})
    out["head.id"] = head_id = f.former_id(ik, item_id, f.HEAD)
    out["head.attributes"] = f.pack_list(
        item | origin | {"origin-version": (f.INTEGER, 7), "deleted": (f.TIME, CREATED + 180), "former": (f.DATA, former)})
    out["policy.id"] = policy_id = f.policy_id(keys.sys, "limits")
    out["policy.attributes"] = f.pack_list({"policy": (f.TEXT, "limits"), "history-versions": (f.INTEGER, 20)})
    for name, kind, gk, id_, grp, s in (
            ("history", 6, GK1, former_id, gid, b"hunter1"), ("head", 6, GK1, head_id, gid, b"hunter2"),
            ("policy", 5, keys.sys, policy_id, f.ZERO16, b"")):
        _, values = record(name, 7, kind, gk, id_, grp, out[name + ".attributes"], s)
        out.update(values)

    # Generations
    ring, previous = b"", bytes(32)
    for g in range(1, 8):
        tree = {group_id: leaves[min(g, 2)], **({item_id: item_leaves[g]} if g > 2 else {})}
        nodes, root = f.build_tree(keys.tree, vid, 0, tree)
        rows = {1: slot, 9: ring} if ring else {1: slot}
        h = f.Header(vid=vid, generation=g, count=len(tree), created=CREATED, previous=previous, root_digest=root,
                     slots_digest=f.slots_digest(keys.hdr, vid, rows)).sign(keys.hdr)
        f.check_slots_and_ring(keys, h, rows)
        f.Header.parse(h.pack()).check_mac(keys.hdr)
        for name, value in (("root-body", nodes[b""]), ("root-digest", root), ("ring", ring), ("header", h.pack()),
                            ("slots-digest", h.slots_digest), ("header-mac", h.mac),
                            ("anchor", f.make_anchor(keys, h))):
            if f"g{g}.{name}" in v:
                out[f"g{g}.{name}"] = value
        previous, ring = h.mac, ring + h.mac
    for depth in (1, 2):
        nodes, _ = f.build_tree(keys.tree, vid, depth, tree)
        for p, body in nodes.items():
            name = f"depth{depth}.node-{p.hex() or 'root'}."
            out[name + "body"], out[name + "digest"] = body, f.node_digest(keys.tree, vid, depth, p, body)
    out["empty.root-digest"] = f.build_tree(keys.tree, vid, 0, {})[1]
    return out
