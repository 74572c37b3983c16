"""Clients that break the protocol of an SSH agent. Prints what became of each."""
import socket
import struct
import sys

path = sys.argv[1]


def connect():
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    return client


def is_closed(client):
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


def message(client):
    size = b""
    while len(size) < 4:
        part = client.recv(4 - len(size))
        if not part:
            return None
        size += part
    rest = b""
    while len(rest) < struct.unpack(">I", size)[0]:
        rest += client.recv(1 << 16)
    return rest


def list_keys():
    client = connect()
    client.sendall(b"\0\0\0\1\x0b")
    answer = message(client)
    return answer is not None and answer[0] == 12


for name, size in (("0", 0), ("4 GiB", 0xFFFFFFFF)):
    client = connect()
    client.sendall(struct.pack(">I", size))
    print(f"length {name}: {'closed' if is_closed(client) else 'open'}")

# Half of a private key, which holds nobody up.
half = connect()
half.sendall(struct.pack(">I", 200000) + b"\x11" + b"x" * 1000)
print("cut off:", "open" if list_keys() else "closed")
half.close()

client = connect()
refused = 0
for number in range(256):
    # All but the list of keys and those that lock, unlock and remove all keys without an argument.
    if number in (11, 19, 9, 1):
        continue
    client.sendall(struct.pack(">I", 1) + bytes([number]))
    answer = message(client)
    if answer is None:
        client = connect()
        refused += 1
    elif answer[0] in (5, 28):
        refused += 1
print("numbers:", refused, "refused")

many = []
for _ in range(1000):
    many.append(connect())
assert list_keys()
print("1000 connections")
for client in many:
    client.close()

# A client that never reads its answers.
slow = connect()
slow.setblocking(False)
try:
    while True:
        slow.send(b"\0\0\0\1\x0b" * 1000)
except BlockingIOError:
    pass
print("slow:", "open" if list_keys() else "closed")
