"""Prints whether the memory of a process holds a text: holds.py PROCESS TEXT-IN-HEXADECIMAL."""

import sys

process, text = sys.argv[1], bytes.fromhex(sys.argv[2])
found = 0
with open(f"/proc/{process}/mem", "rb", 0) as memory:
    for line in open(f"/proc/{process}/maps"):
        span, mode = line.split()[:2]
        if "r" not in mode or "[v" in line:
            continue
        start, end = (int(number, 16) for number in span.split("-"))
        memory.seek(start)
        try:
            found += memory.read(end - start).count(text)
        except OSError:
            continue
print("held" if found else "not held", flush=True)
