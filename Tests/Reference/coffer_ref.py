#!/usr/bin/env python3
"""Command-line front of the reference implementation, for tests. See README.md."""
import argparse
import base64
import json
import os
import sys

import coffer_format as f

TYPE_NUMBERS = {name: number for number, name in f.TYPE_NAMES.items()}


# JSON

def json_line(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def b64(data):
    return base64.b64encode(data).decode()


def attributes_to_json(attributes):
    return {name: {"type": f.TYPE_NAMES[t], "value": value if t in (f.INTEGER, f.TIME) else
                   b64(f.value_bytes(t, value))} for name, (t, value) in attributes.items()}


def attributes_from_json(attributes):
    out = {}
    for name, x in attributes.items():
        t, value = TYPE_NUMBERS[x["type"]], x["value"]
        if t in (f.TEXT, f.DATA):
            value = base64.b64decode(value)
            value = value.decode("utf-8") if t == f.TEXT else value
        out[name] = (t, value)
    return out


def dump_lines(groups, items):
    """One canonical JSON line per group, then one per item."""
    for g in groups:
        yield json_line({"group": g.name, "id": g.id.hex(), "gid": g.gid.hex(), "ver": g.ver,
                         "attributes": attributes_to_json(g.attributes), "keys": sorted(g.keys)})
    for i in items:
        sealed = i.attributes is None
        yield json_line({"group": i.group.name, "id": i.id.hex(), "accessible": i.cls, "ver": i.ver,
                         "class": None if sealed else i.attributes["class"][1],
                         "attributes": None if sealed else attributes_to_json(i.attributes),
                         "secret": None if sealed else b64(i.secret)})


# Operations

def credential_from_json(x):
    passphrase, key_file = x.get("passphrase"), x.get("key-file")
    return f.Credential(passphrase=None if passphrase is None else passphrase.encode(),
                        key_file=None if key_file is None else read_file(key_file),
                        recovery=f.recovery_key(x["recovery-key"]) if "recovery-key" in x else None)


def target(change, op):
    if "id" in op:
        return bytes.fromhex(op["id"])
    return f.item_id(change.group(op["group"]).ik, attributes_from_json(op["item"]))


def perform(change, op):
    name = op.get("op", "commit")
    cls = op.get("accessible")
    secret = None if op.get("secret") is None else base64.b64decode(op["secret"])
    if name == "add":
        change.add(op["group"], attributes_from_json(op["attributes"]), secret or b"", cls or 1)
    elif name == "update":
        change.update(target(change, op), attributes_from_json(op.get("set", {})), op.get("unset", ()), secret, cls)
    elif name == "remove":
        change.remove(target(change, op))
    elif name == "move":
        change.move(target(change, op), op["to"])
    elif name == "group":
        change.add_group(op["name"], op["created"])
    elif name == "slot-add":
        change.add_slot(credential_from_json(op), op.get("k"), op.get("memory", f.FLOOR_MEMORY))
    elif name == "slot-remove":
        change.remove_slot(op["k"])
    elif name == "rekey":
        change.rekey([credential_from_json(x) for x in op["slots"]], op.get("memory", f.FLOOR_MEMORY))
    elif name != "commit":
        raise f.InputError(f"unknown operation {name}")


def commits(lines):
    batch = []
    for line in lines:
        if line.strip():
            batch.append(json.loads(line))
            if batch[-1].get("commit") or batch[-1].get("op") == "commit":
                yield batch
                batch = []
    if batch:
        yield batch


# Worked values

def check_values(path):
    """(name, problem) of each value that differs, and the names of values that are inputs or were not recomputed."""
    given = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, value = line.split("=")
                given[name.strip()] = bytes.fromhex(value.strip())
    import values
    computed = values.compute(given)
    wrong = [name for name, value in computed.items() if given.get(name) != value]
    return wrong, [name for name in given if name not in computed]


# Command line

def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def read_fd(fd):
    with os.fdopen(fd, "rb") as file:
        return file.read()


def credential(args):
    return f.Credential(
        passphrase=None if args.passphrase_fd is None else read_fd(args.passphrase_fd),
        key_file=None if args.key_file is None else read_file(args.key_file),
        recovery=None if args.recovery_key_fd is None else
        f.recovery_key(read_fd(args.recovery_key_fd).decode("utf-8", "replace").strip()))


def write_anchor(args, vault):
    if args.anchor:
        temporary = args.anchor + ".new"
        with open(temporary, "wb") as file:
            file.write(vault.anchor())
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, args.anchor)


def run(args):
    if args.command == "check-values":
        wrong, inputs = check_values(args.path)
        print("not recomputed:", " ".join(inputs))
        for name in wrong:
            print("differs:", name)
        return 1 if wrong else 0
    device = None if args.device_key is None else read_file(args.device_key)
    if device is not None and len(device) != 32:
        raise f.InputError("a device key has 32 bytes")
    if args.command == "create":
        vault = f.WritableVault.create(args.path, [credential(args)], device, memory=args.memory, created=args.created,
                                       depth=args.depth)
        with vault:
            write_anchor(args, vault)
        return 0
    anchor = read_file(args.anchor) if args.anchor and os.path.exists(args.anchor) else None
    with f.WritableVault(args.path, credential(args), device, anchor, depth=args.depth) as vault:
        if not vault.descent_checked:
            print("note: the descent from the anchor could not be checked", file=sys.stderr)
        if args.command == "dump":
            for line in dump_lines(*vault.dump()):
                sys.stdout.write(line + "\n")
        elif args.command == "verify":
            problems = vault.verify()
            for p in problems:
                print(p)
            if problems:
                return 9
            print("sound")
        elif args.command == "apply":
            with open(args.operations, encoding="utf-8") as file:
                for batch in commits(file):
                    with vault.write() as change:
                        for op in batch:
                            perform(change, op)
                    write_anchor(args, vault)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("create", "dump", "apply", "verify", "check-values"))
    parser.add_argument("path")
    parser.add_argument("operations", nargs="?", help="apply: a file with one JSON object a line")
    parser.add_argument("--passphrase-fd", type=int)
    parser.add_argument("--recovery-key-fd", type=int)
    parser.add_argument("--key-file")
    parser.add_argument("--device-key")
    parser.add_argument("--anchor")
    parser.add_argument("--memory", type=int, default=f.FLOOR_MEMORY, help="create: KiB for Argon2id")
    parser.add_argument("--created", type=int, help="create: seconds since 1970")
    parser.add_argument("--depth", type=int, default=0, choices=(0, 1, 2), help="apply: least depth of the tree")
    args = parser.parse_args()
    if args.command == "apply" and not args.operations:
        parser.error("apply needs a file of operations")
    sys.stdout.reconfigure(encoding="utf-8")
    try:
        return run(args)
    except f.Refused as e:
        print(e.code, e.rule)
        print(e, file=sys.stderr)
        return 9
    except f.NotFound as e:
        print("not found:", e, file=sys.stderr)
        return 4
    except (f.InputError, OSError, ValueError, KeyError) as e:
        print("error:", repr(e), file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
