"""Key slots, passphrases and recovery keys (section 5)."""
import base64
import struct
import unicodedata

import sodium
from format import HASH, KDF, MAX_MESSAGE, InputError, refuse, same

TYPE_PASSPHRASE, TYPE_RECOVERY, TYPE_KEY_FILE, TYPE_BOTH, TYPE_EXTERNAL = 1, 2, 3, 4, 5
FLOOR_PASSES, FLOOR_MEMORY = 3, 65_536
CEILING_PASSES, CEILING_MEMORY = 64, 4_194_304


class Slot:
    def __init__(self, row):
        self.row = row
        (self.type, self.kdf, self.zero1, self.t, self.m, self.p, self.salt, self.id, self.ext_length,
         self.zero2) = struct.unpack_from("<BBHIII16s16sII", row)
        self.commitment, self.box, self.ext = row[56:88], row[88:160], row[160:]


def check_slot(row):
    """Every check of section 5.1 but the ceiling."""
    if len(row) < 160:
        refuse("R13", "length")
    s = Slot(row)
    if not 1 <= s.type <= 5 or s.kdf > 1:
        refuse("R14")
    if s.ext_length > 4096 or len(row) != 160 + s.ext_length:
        refuse("R13", "ext")
    derives = s.type in (TYPE_PASSPHRASE, TYPE_BOTH)
    if (s.zero1 or s.zero2 or s.kdf != derives or s.p != derives
            or (not derives and (s.t or s.m)) or (s.type != TYPE_EXTERNAL and s.ext_length)):
        refuse("R15")
    if derives and (s.t < FLOOR_PASSES or s.m < FLOOR_MEMORY):
        refuse("R16")
    return s


def normal_passphrase(data, creating=False):
    """NFC of a passphrase given as bytes or str (section 5.2)."""
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
        if creating and any(unicodedata.category(c) == "Cn" for c in text):
            raise InputError("the passphrase holds a code point that is not assigned")
        out = unicodedata.normalize("NFC", text).encode("utf-8")
    except UnicodeError:
        raise InputError("the passphrase is not UTF-8") from None
    if not 1 <= len(out) <= 4096:
        raise InputError("the passphrase must have 1 to 4,096 bytes")
    return out


def key_file_ikm(content):
    if not 32 <= len(content) <= MAX_MESSAGE:
        raise InputError("a key file has 32 bytes to 1 MiB")
    return HASH(content)


def recovery_check(key):
    return HASH(b"coffer/v1/recovery-key\0" + key)[:3]


def recovery_text(key):
    text = base64.b32encode(key + recovery_check(key)).decode()
    return "-".join(text[i:i + 7] for i in range(0, 56, 7))


def recovery_key(text):
    text = text.replace(" ", "").replace("-", "")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz234567"
    if len(text) != 56 or any(c not in alphabet for c in text):
        raise InputError("a recovery key has 56 characters A-Z, 2-7")
    raw = base64.b32decode(text.upper())
    if not same(raw[32:], recovery_check(raw[:32])):
        raise InputError("the recovery key is mistyped")
    return raw[:32]


def slot_keys(ikm, vid, head, ext):
    """KEK and commitment; head is bytes 0 to 55 of the slot."""
    c = vid + head + ext
    return KDF(ikm, "slot-kek", c), KDF(ikm, "slot-commit", c)


def slot_head(type_, salt, slot_id, t=0, m=0, ext=b""):
    derives = type_ in (TYPE_PASSPHRASE, TYPE_BOTH)
    return struct.pack("<BBHIII16s16sII", type_, derives, 0, t, m, int(derives), salt, slot_id, len(ext), 0)


def slot_row(ikm, vid, head, ext, nonce, mk):
    kek, commitment = slot_keys(ikm, vid, head, ext)
    return head + commitment + nonce + sodium.secretbox(mk, nonce, kek) + ext
