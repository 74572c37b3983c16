"""Tests of the reader of the log: the vectors, and that each cause is among them."""
import os
import re
import unittest

import coffer_ref
import sync_check
import sync_vectors

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def content(*path):
    return coffer_ref.read_file(os.path.join(ROOT, *path)).decode()


class Vectors(unittest.TestCase):
    def test_the_file_is_that_of_the_writer(self):
        self.assertEqual(content("Tests", "Vectors", "sync.txt").splitlines(), (sync_vectors.HEADER + "\n" + "\n".join(
            sync_vectors.main())).splitlines())

    def test_every_cause_has_a_vector(self):
        table = content("docs", "sync-format.md").split("### 3.1")[1].split("### 3.2")[0]
        causes = set(re.findall(r"^\| (\w+) \|", table, re.M)) - {"cause"}
        self.assertEqual(set(re.findall(r"^entry (\w+)", content("Tests", "Vectors", "sync.txt"), re.M)), causes | {"valid"})

    def test_the_reader_needs_only_the_file(self):
        self.assertEqual(list(sync_check.differences(content("Tests", "Vectors", "sync.txt").splitlines())), [])

    def test_a_difference_is_noticed(self):
        lines = content("Tests", "Vectors", "sync.txt").splitlines()
        for word in ("entry", "halt", "state", "end"):
            at = max(i for i, line in enumerate(lines) if line.startswith(word))
            changed = lines[:at] + [lines[at].replace(lines[at].split(" ")[1], "00", 1)] + lines[at + 1:]
            self.assertEqual(len(list(sync_check.differences(changed))), 1)


if __name__ == "__main__":
    unittest.main()
