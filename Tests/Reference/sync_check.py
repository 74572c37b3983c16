"""Folds a file of the form of Tests/Vectors/sync.txt, and compares what it says with what the reader finds.

    python3 sync_check.py FILE"""
import sys

from sync_format import Halt, Log


def entry_bytes(digits):
    digits, _, zeros = digits.partition("+")
    return bytes.fromhex(digits) + bytes(int(zeros or 0))


def halt_of(log, entry):
    try:
        log.prove(entry)
    except Halt as halt:
        return str(halt)
    return "none"


def differences(lines):
    """The lines that are wrong, each with what was found."""
    for number, line in enumerate(lines, 1):
        word, *values = line.split(" ")
        found = values
        if word == "device":
            box_seed = bytes.fromhex(values[1])
        elif word == "space":
            space = bytes.fromhex(values[0])
        elif word == "key":
            log = Log(space, box_seed, {0: bytes.fromhex(values[0])})
        elif word == "entry":
            found = [log.fold(entry_bytes(values[1])), values[1]]
        elif word == "halt":
            found = [halt_of(log, entry_bytes(values[1])), values[1]]
        elif word == "state":
            found = [log.state.digest().hex()]
        elif word == "end":
            found = [v.hex() for v in (log.chain, log.epoch.to_bytes(4, "little"), log.link, *sorted(log.devices))]
        elif not word.startswith("#"):
            found = ["a line that is not known"]
        if found != values:
            yield f"{number}: {word} {values[0]}, found {found[0]}"


if __name__ == "__main__":
    with open(sys.argv[1], encoding="ascii") as file:
        wrong = list(differences(file.read().splitlines()))
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)
