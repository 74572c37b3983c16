#!/usr/bin/env python3
"""Writes vault files that must be refused, one rule broken in each, and files that must be accepted. See README.md.

    make_refuse_vectors.py DIRECTORY
"""
import os
import sys

import refuse_container
import refuse_contents
import refuse_tree
import accept
from forge import DEVICE_KEY, KEY_FILE, Forge


class Collector:
    def __init__(self, directory):
        self.directory, self.lines, self.names = directory, [], set()
        os.makedirs(directory, exist_ok=True)
        self.file("vector.key", KEY_FILE)

    def file(self, name, content):
        with open(os.path.join(self.directory, name), "wb") as file:
            file.write(content)

    def __call__(self, name, rule, operation, *, code=None, anchor=None, files=None, dump=None, options=None,
                 after=None, **edits):
        """options go to Forge, edits are its stages; anchor and files are functions of the Forge;
        after works on the finished file."""
        from coffer_format import RULES
        assert name not in self.names, name
        self.names.add(name)
        forge = Forge(name, **(options or {}))
        path = os.path.join(self.directory, name + ".coffer")
        forge.build(path, **edits)
        if after:
            after(forge, path)
        if forge.device:
            self.file(name + ".device", DEVICE_KEY)
        if anchor:
            self.file(name + ".anchor", anchor(forge))
        for suffix, content in (files(forge) if files else {}).items():
            self.file(name + suffix, content)
        if dump:
            self.file(name + ".dump", dump(forge))
        self.lines.append("\t".join((name, rule, code or RULES[rule], operation)))

    def finish(self):
        self.file("index.txt", ("\n".join(self.lines) + "\n").encode())


def generate(directory):
    collector = Collector(directory)
    for module in (refuse_container, refuse_tree, refuse_contents, accept):
        module.vectors(collector)
    collector.finish()
    return len(collector.lines)


if __name__ == "__main__":
    print(generate(sys.argv[1]), "vectors")
