#!/usr/bin/env python3
"""Makes a database of KeePass 4 by pykeepass, and compares what coffer has imported from it.

    keepass.py make FILE PASSPHRASE
    keepass.py check FILE PASSPHRASE COFFER-OPTION…
"""
import random
import subprocess
import sys
import urllib.parse

import pykeepass

LETTERS = "ab&<>\"'\\ é€😀;]"


def text(count):
    return "".join(random.choice(LETTERS) for _ in range(count))


def make(path, passphrase):
    random.seed(11)
    database = pykeepass.create_database(path, password=passphrase)
    below = database.add_group(database.add_group(database.root_group, "web"), "a & b")
    for number in range(12):
        group = random.choice([database.root_group, below])
        entry = database.add_entry(group, f"t{number}", f"u{number}", "x" + text(9), url=f"https://h{number}.example.org/",
                                   notes="n" + text(5) + "\nsecond line", tags=["one", "two"])
        entry.set_custom_property("Field & <1>", "f" + text(5))
        if number % 2:
            entry.save_history()
            entry.password = "y" + text(9)
            entry.add_attachment(database.add_binary(bytes(random.randrange(256) for _ in range(number * 100))), "file.bin")
        if number % 3 == 0:
            entry.otp = "otpauth://totp/x?secret=JBSWY3DP&period=60"
    database.save()


def check(path, passphrase, options):
    def get(name, *more):
        return subprocess.run(["coffer", "secret", "get", name, *more, *options], check=True, capture_output=True).stdout

    database = pykeepass.PyKeePass(path, password=passphrase)
    for entry in database.entries:
        group = "/".join(entry.path[:-1]) or "default"
        name = f"coffer://{urllib.parse.quote(group, safe='')}/h{entry.title[1:]}.example.org/{entry.username}"
        assert get(name) == entry.password.encode(), name
        assert get(name + "#notes") == entry.notes.encode(), name
        assert get(name + "#label") == entry.title.encode(), name
        assert get(name + "#Field%20%26%20%3C1%3E") == entry.get_custom_property("Field & <1>").encode(), name
        if entry.otp:
            assert get(name + "#otp") == entry.otp.encode(), name
        for attachment in entry.attachments:
            assert get(name + "#file.bin") == attachment.data, name
        history = subprocess.run(["coffer", "secret", "history", name, *options], check=True, capture_output=True, text=True)
        numbers = [line.split("\t")[0] for line in history.stdout.splitlines()][1:]
        former = [get(name, "--version", number).decode() for number in reversed(numbers)]
        assert former == [old.password for old in entry.history], (name, former)
    print(f"{len(database.entries)} entries of version {'.'.join(map(str, database.version))}")


if sys.argv[1] == "make":
    make(*sys.argv[2:4])
else:
    check(sys.argv[2], sys.argv[3], sys.argv[4:])
