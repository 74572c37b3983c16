#!/usr/bin/env python3
"""Writes what the fuzzers start from, out of Tests/Vectors/values.txt."""
import datetime
import os
import plistlib
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../Tests/Reference"))

import sync_vectors  # noqa: E402


def values():
    with open(os.path.join(HERE, "../Tests/Vectors/values.txt"), encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                name, digits = line.strip().split(" = ")
                yield name, bytes.fromhex(digits)


V = dict(values())


def u16(number):
    return number.to_bytes(2, "little")


def rows(*pairs):
    return b"".join(bytes([key]) + u16(len(row)) + row for key, row in pairs)


def meta(name, group, first):
    return u16(7) + bytes([group]) + u16(168) + u16(168) + b"\1" + first + V[name]


def ssh(*fields):
    return b"".join(len(field).to_bytes(4, "big") + field for field in fields)


SSH_KEY = ssh(b"ssh-ed25519", bytes(range(32)))
SSH_LOGIN = ssh(bytes(32)) + b"\x32" + ssh(b"git", b"ssh-connection", b"publickey") + b"\1" + ssh(b"ssh-ed25519", SSH_KEY)
SSH_LINE = b"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f ada@laptop"

SEEDS = {
    "foreign": [
        b"\0# a\nexport A='x'\nB=\"y\\n\"\nC=z # c\n",
        b"\1machine a login b password \"c d\"\ndefault login x\nmacdef init\n x\n\nmachine e password f\n",
        b"\2https://ada:p%20w@example.org:8443/x\n#\nhttp://b:c@d\n",
        b'\3{"auths":{"a":{"auth":"YTpi"},"b":{"identitytoken":"\\u0041\\ud83d\\ude00"},"c":{}},"x":[1,-2e3,true,null]}',
        b"\4registry=x\n//a/:_authToken=t\n//b/:_auth=\"YTpi\"\n//c/:username=u\n//c/:_password=YQ==\n",
        b"\5[distutils]\nindex-servers=\n a\n[a]\nusername: u\npassword: p\n",
        b"\6[a]\naws_access_key_id=b\naws_secret_access_key=c\naws_session_token=d\n",
        b'\7name,url,username,password,note\na,https://a:1/,u,"p,""\n",\nb,,,q,n\r\n',
        b'\10\xef\xbb\xbfservice;account;password;otp;folder;x\n"s";u;p;gezd gnbv;a/b;\n',
        b'\11{"encrypted":false,"folders":[{"id":"f","name":"F"}],"items":[{"folderId":"f","type":1,"name":"n","notes":"x",'
        b'"fields":[{"name":"p","value":"1","type":1}],"login":{"uris":[{"uri":"https://a"}],"username":"u","password":"p",'
        b'"totp":"gezd"},"passwordHistory":[{"lastUsedDate":"1","password":"o"}]}]}',
        b'\12{"accounts":[{"vaults":[{"attrs":{"name":"v"},"items":[{"details":{"loginFields":[{"value":"p","designation":"password"}],'
        b'"sections":[{"fields":[{"title":"f","value":{"file":{"fileName":"k","documentId":"d"}}}]}]},"overview":{"title":"t"}}]}]}]}',
        b'\13<?xml version="1.0"?><KeePassFile><Meta><Binaries><Binary ID="0">YQ==</Binary></Binaries></Meta><Root><Group><Entry>'
        b'<String><Key>Password</Key><Value>&#x41;&amp;<![CDATA[x]]></Value></String><Binary><Key>f</Key><Value Ref="0"/></Binary>'
        b'</Entry></Group></Root></KeePassFile>',
        b"\14p\nlogin: u\nPIN: 1\nfree\notpauth://totp/a?secret=A\n",
        b"\15---\na: |\n  b\nc: {}\nusers:\n- name: d # e\n  user:\n    client-key-data: 'Zg=='\n    client-certificate-data: \"Zw==\"\n",
        b"\16a.\"b\" = [1, 'c', {d = 1979-05-27 07:32:00Z}] # e\n[registries.'f']\ntoken = \"g\"\n[[h]]\ni = \"\"\"\nj\"\"\"\n",
    ],
    "ssh-message": [b"\x0b", b"\x0c\0\0\0\1" + ssh(SSH_KEY, b"ada"), b"\x0d" + ssh(SSH_KEY, SSH_LOGIN) + bytes(4),
                    b"\x0d" + ssh(SSH_KEY, b"SSHSIG" + ssh(b"git", b"", b"sha512", bytes(64))) + bytes(4),
                    b"\x1b" + ssh(b"session-bind@openssh.com", SSH_KEY, bytes(32), bytes(83)) + b"\0", SSH_LOGIN],
    "ssh-text": [SSH_LINE + b"\n", b"git.example.org,192.0.2.1 " + SSH_LINE + b"\n|1|c2FsdA==|aGFzaA== " + SSH_LINE],
    "header": [V["g1.header"], V["g2.header"], V["g7.header"]],
    "slot": [V[f"{name}.row"] for name in ("slot1", "slot-type2", "slot-type3", "slot-type4", "slot-type5")],
    "slot-rows": [rows((1, V["slot1.row"])), rows((1, V["slot1.row"]), (2, V["slot-type2.row"]), (9, V["g7.ring"]))],
    "node": [b"\0\0" + V["g7.root-body"], b"\1\0" + V["depth1.node-root.body"], b"\0\1\x13" + V["depth1.node-13.body"],
             b"\0\2\x13\xb2" + V["depth2.node-13b2.body"]],
    "record-meta": [meta("group.ver1.m", 0, b"\0"), meta("item.ver7.m", 1, b"\x13")],
    "anchor": [V["g2.anchor"], V["g7.anchor"]],
    "anchor-signed": [V["g2.anchor"][:64], V["g7.anchor"][:8] + b"\x40" * 16 + V["g7.anchor"][24:64]],
    "box": [V["box.hunter2"], V["item.ver7.a"]],
    "padding": [V["pad.empty"], V["pad.hunter2"]],
    "attributes": [V["item.attributes"], V["group.attributes"]] + [V[f"id{number}.primary"] for number in range(2, 6)],
    "item": [V["item.attributes"]],
    "group": [u16(len(V["group.attributes"])) + V["group.attributes"] + V[f"group.secret.ver{version}"] for version in (1, 2)],
    "passphrase": [V["slot1.passphrase"], V["slot1.passphrase-nfd"], "한국어 각".encode(), "a\u0323\u0307\u0301".encode(), b"\xf0\x9f\x98\x80"],
    "recovery-key": [V["recovery.text"], V["recovery.text"].lower().replace(b"-", b" ")],
    "item-name": [b"mail/ada", b"mail", b"coffer://default/mail/ada#user", b"coffer://a%20b/%C3%A9/x%2Fy"],
    "store": [bytes([kind % 11, 0, 0, 1, 0, 2, 0, kind, 5, 0, 1, 2, 3]) for kind in range(18)]
    # Each record deleted: a list of groups once left out the one whose row was gone.
    + [bytes([0, 0, 0, record, 0, 0, 0, 14]) for record in range(5)],
    "store-signed": [b"\0" + bytes([kind % 10, 0, 0, 1, 0, 2, 0, kind, 5, 0, 1, 2, 3]) for kind in range(18)]
    + [b"\1" + bytes([number, number & 1]) + u16(len(V["item.attributes"])) + V["item.attributes"] for number in range(5)],
}

def plist(value, kind=plistlib.FMT_XML):
    return plistlib.dumps(value, fmt=kind)


VALUES = [
    {"name": "Ada", "on": True, "count": 7, "large": 2**64 - 1, "size": 0.5, "data": b"\0\1", "list": [1, {"a": []}],
     "date": datetime.datetime(2026, 1, 2, 3, 4, 5), "text": "\u00e9\U0001F600 <&>"},
    [], "text",
]
UID = plist({"uid": plistlib.UID(3)}, plistlib.FMT_BINARY)


def crc32c(data):
    total = 0xFFFFFFFF
    for byte in data:
        total ^= byte
        for _ in range(8):
            total = total >> 1 ^ (0x82F63B78 if total & 1 else 0)
    return total ^ 0xFFFFFFFF


HEADER = b"COFFERJN" + struct.pack("<IIQIIQQQI", 1, 0, 4, 7, 0, 2, 64, 64, 0)


def entry(kind, key, value):
    return bytes([kind]) + len(key).to_bytes(4, "little") + len(value).to_bytes(4, "little") + key + value


JOURNAL_VALUES = [b"\0", b"\1", b"\2" + b"\7" * 8, b"\3" + b"\xff" * 8, b"\4" + b"\0" * 8, b"\5" + b"\0" * 8, b"\6\3\0\0\0abc",
                  b"\7\2\0\0\0\0\1", b"\x08\2\0\0\0\0\1", b"\x09\1\0\0\0\1\0\0\0k\1", b"\x0a\1\0\0\0"]
SEEDS["property-list"] = [plist(value) for value in VALUES] + [plist(value, plistlib.FMT_BINARY) for value in VALUES] + [
    UID, b'{ a = (1, "2", <0fbd77>); /* c */ "b" = { c = d; }; }']
SEEDS["property-list-binary"] = [plist(value, plistlib.FMT_BINARY)[8:] for value in VALUES] + [UID[8:]]
SEEDS["property-list-xml"] = [plist(value).split(b'<plist version="1.0">')[1].split(b"</plist>")[0] for value in VALUES]
SEEDS["journal-value"] = JOURNAL_VALUES
SEEDS["journal-header"] = [HEADER + struct.pack("<I", crc32c(HEADER))]
SEEDS["journal-record"] = [entry(1, b"key", value) for value in JOURNAL_VALUES] + [
    entry(2, b"key", b""), entry(3, b"", b"\1" + b"\0" * 7), entry(3, b"", b"\1" + b"\0" * 31), entry(4, b"", b"\0\1\0\0"),
    entry(9, b"k", b"v"), entry(1, b"key", b"\1") + entry(2, b"key", b"")]
SEEDS["journal"] = [b"", b"\0" * 64, bytes(range(256)), b"\x20\0\0\0" * 8]



def attribute(kind, name, value):
    return bytes([kind]) + u16(len(name)) + name + len(value).to_bytes(4, "little") + value


def frame(operation, fields=b"", parts=(), secret=b""):
    body = struct.pack("<I", len(fields)) + fields + u16(len(parts))
    body += b"".join(struct.pack("<I", len(part)) + part for part in parts) + secret
    return struct.pack("<IHHQ", len(body), 1, operation, 7) + body


def number(name, value):
    return attribute(3, name, value.to_bytes(8, "little"))


ITEM = V["item.attributes"]
GROUP = attribute(1, b"group", b"default")
REFERENCE = GROUP + attribute(2, b"id", bytes(range(16)))
ENTRY = number(b"accessible", 1) + number(b"generation", 3) + REFERENCE
SEEDS["frame"] = [
    frame(1), frame(2, number(b"kind", 1) + number(b"text-count", 4), secret=b"pass"), frame(3), frame(4),
    frame(5, number(b"class", 1) + GROUP, [attribute(1, b"service", b"mail")]),
    frame(6, REFERENCE + attribute(1, b"purpose", b"to log in")),
    frame(7, number(b"accessible", 1) + GROUP + number(b"install-bound", 1), [ITEM], b"secret"),
    frame(8, number(b"generation", 1) + GROUP + number(b"has-secret", 1) + attribute(2, b"id", bytes(16)), [ITEM], b"new"),
    frame(9, REFERENCE + attribute(1, b"to-group", b"other")), frame(10, REFERENCE), frame(11, REFERENCE),
    frame(128, REFERENCE), frame(128, b"", [struct.pack("<I", len(ENTRY)) + ENTRY + ITEM]),
    frame(128, attribute(1, b"application", b"T.x"), [number(b"confirmed", 0) + GROUP + number(b"rights", 7)]),
    frame(130, attribute(1, b"code", b"locked") + attribute(1, b"detail", b"")),
    frame(20), frame(131, b"", [number(b"kind", 5), GROUP + attribute(2, b"id", bytes(16)) + number(b"kind", 1)]),
]

WRITER = sync_vectors.Writer()
ENTRIES = [WRITER.entry(7, WRITER.devices[0], b""), WRITER.entry(2, WRITER.devices[0], bytes(99), clear=bytes(88))]
sync_vectors.fold(WRITER, WRITER.devices[0], WRITER.devices[0])
SEEDS["sync-entry"] = ENTRIES
SEEDS["sync-body"] = [u16(kind)[:1] + payload for kind, payload in WRITER.payloads if len(payload) < 2000] + [
    b"\2" + bytes(32) + WRITER.devices[1].record.pack(), b"\3" + bytes(35) + b"\1\0" + bytes(16), b"\4" + bytes(48) + b"\2",
    b"\6" + bytes(72) + b"\1\0" + bytes(32), b"\7", b"\x08" + bytes(72) + b"\1\0" + bytes(16)]
SEEDS["sync-item"] = [sync_vectors.item(b"default", "bob", "label")[0], sync_vectors.item("café".encode(), "", protection=2)[0]]
SEEDS["sync-setting"] = [sync_vectors.setting(b"store", b"key", b"\6\1\0\0\0a")[0], sync_vectors.setting("café".encode(), b"\n", b"\7")[0]]
SEEDS["sync-state"] = [b"".join(WRITER.log.state.rows())[:4000]] + list(WRITER.log.state.rows())[:6]
SEEDS["sync-welcome"] = [bytes(range(124))]

for target, seeds in SEEDS.items():
    folder = os.path.join(HERE, "Corpus", target)
    os.makedirs(folder, exist_ok=True)
    for number, seed in enumerate(seeds):
        with open(os.path.join(folder, f"seed-{number:02}"), "wb") as file:
            file.write(seed)
