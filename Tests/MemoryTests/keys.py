"""The keys of a vault behind a key file, for the memory tests to look for: lines of `name hex`.

    keys.py VAULT KEY-FILE
"""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Reference"))

import contents  # noqa: E402
import reader  # noqa: E402


def main(path, key_file):
    with open(key_file, "rb") as file:
        credential = reader.Credential(key_file=file.read())
    with reader.Vault(path, credential) as vault, vault.read() as snapshot:
        keys = {name: getattr(vault.keys, name) for name in ("mk", "hdr", "tree", "sys")}
        group = snapshot.group("default")
        keys["index"] = group.ik
        for (accessible, epoch), key in group.keys.items():
            keys[f"class-{accessible}-{epoch}"] = key
        for item in snapshot.list("default"):
            row = snapshot.row(item.id, snapshot.find(item.id))
            for field in (1, 2):
                key = contents.record_key(group.keys[row.cls, row.epoch], vault.keys.vid, row.id, row.grp, row.m, field)
                keys[f"record-{item.id.hex()[:4]}-{field}"] = key
    for name, key in keys.items():
        print(name, key.hex())


main(*sys.argv[1:])
