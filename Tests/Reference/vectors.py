"""Runs the operation of a vector with the reference reader."""
import os

import coffer_format as f
from coffer_ref import dump_lines, read_file
from forge import BOB, PROBE


def credential(directory, name):
    """NAME.pass, NAME.key and NAME.recovery if there are any, else vector.key."""
    def content(suffix):
        path = os.path.join(directory, name + suffix)
        return read_file(path) if os.path.exists(path) else None

    passphrase, key, recovery = content(".pass"), content(".key"), content(".recovery")
    if passphrase is None and key is None and recovery is None:
        key = read_file(os.path.join(directory, "vector.key"))
    return f.Credential(passphrase, key, recovery and f.recovery_key(recovery.decode()))


def run(directory, name, operation):
    """The result of the operation; raises Refused."""
    def content(suffix):
        path = os.path.join(directory, name + suffix)
        return read_file(path) if os.path.exists(path) else None

    kind = f.WritableVault if operation == "write" else f.Vault
    path = os.path.join(directory, name + ".coffer")
    with kind(path, credential(directory, name), content(".device"), content(".anchor")) as vault:
        if operation == "open":
            return None
        if operation == "get":
            return vault.get("default", BOB)
        if operation == "list":
            return vault.list("default")
        if operation == "dump":
            return "".join(line + "\n" for line in dump_lines(*vault.dump()))
        if operation == "verify":
            problems = vault.verify()
            if problems:
                raise problems[0]
            return "sound"
        if operation == "write":
            with vault.write() as change:
                change.add("default", PROBE, b"probe", 1)
            return None
    raise ValueError(operation)


def index(directory):
    with open(os.path.join(directory, "index.txt"), encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file]
