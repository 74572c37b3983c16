"""gnome-keyring over D-Bus, from one process that stays: what a program gets from the Secret Service."""
import statistics
import sys
import time

import secretstorage

SIZES = [int(size) for size in sys.argv[1].split(",")] if len(sys.argv) > 1 else [10, 1000]
SECONDS = 2

connection = secretstorage.dbus_init()
collection = secretstorage.get_default_collection(connection)
print("| gnome-keyring over D-Bus, a second, and the median of one | get by attributes | put |")
print("|---|---|---|")
filled = 0
for size in SIZES:
    while filled < size:
        collection.create_item("x", {"user": str(filled)}, b"a-secret-of-24-bytes-xxx")
        filled += 1

    def measure(work):
        times, end = [], time.perf_counter() + SECONDS
        while time.perf_counter() < end:
            start = time.perf_counter()
            work(len(times))
            times.append(time.perf_counter() - start)
        return f"{len(times) / SECONDS:.0f}, {statistics.median(times) * 1e6:.0f} us"

    get = measure(lambda n: next(collection.search_items({"user": str(n % size)})).get_secret())
    put = measure(lambda n: collection.create_item("x", {"new": f"{size}-{n}"}, b"a-secret-of-24-bytes-xxx"))
    print(f"| {size} items | {get} | {put} |")
