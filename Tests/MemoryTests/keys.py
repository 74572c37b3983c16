"""The keys of a vault behind a key file, for the memory tests to look for: lines of `name hex`.

    keys.py VAULT KEY-FILE [DEVICE-KEY]

With a device key also that, and the boxes that it opens.
"""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Reference"))

import contents  # noqa: E402
import format  # noqa: E402
import reader  # noqa: E402


def content(path):
    with open(path, "rb") as file:
        return file.read()


def main(path, key_file, device_key=None):
    credential = reader.Credential(key_file=content(key_file))
    device = content(device_key) if device_key else None
    with reader.Vault(path, credential, device) as vault, vault.read() as snapshot:
        keys = {name: getattr(vault.keys, name) for name in ("mk", "hdr", "tree", "sys")}
        group = snapshot.group("default")
        keys["index"] = group.ik
        for (accessible, epoch), key in group.keys.items():
            if accessible in contents.DEVICE_CLASSES:
                keys["device"], keys[f"box-{accessible}-{epoch}"] = device, key
                sealing = contents.device_box_key(device, vault.keys.vid, group.gid, accessible, epoch)
                key = format.unpad(format.unseal(sealing, key))
            keys[f"class-{accessible}-{epoch}"] = key
        for item in snapshot.list("default"):
            row = snapshot.row(item.id, snapshot.find(item.id))
            for field in (1, 2):
                key = contents.record_key(keys[f"class-{row.cls}-{row.epoch}"], vault.keys.vid, row.id, row.grp, row.m, field)
                keys[f"record-{item.id.hex()[:4]}-{field}"] = key
    for name, key in keys.items():
        print(name, key.hex())


main(*sys.argv[1:])
