"""The two functions taken from libsodium: secretbox and Argon2id. BLAKE2b comes from hashlib."""
import ctypes

_lib = ctypes.CDLL("libsodium.so.23")
if _lib.sodium_init() < 0:
    raise RuntimeError("libsodium does not start")

_lib.crypto_secretbox_easy.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulonglong,
                                       ctypes.c_char_p, ctypes.c_char_p]
_lib.crypto_secretbox_open_easy.argtypes = _lib.crypto_secretbox_easy.argtypes
_lib.crypto_pwhash.argtypes = [ctypes.c_char_p, ctypes.c_ulonglong, ctypes.c_char_p, ctypes.c_ulonglong,
                               ctypes.c_char_p, ctypes.c_ulonglong, ctypes.c_size_t, ctypes.c_int]


def secretbox(message, nonce, key):
    assert len(nonce) == 24 and len(key) == 32
    out = ctypes.create_string_buffer(len(message) + 16)
    _lib.crypto_secretbox_easy(out, message, len(message), nonce, key)
    return out.raw


def secretbox_open(box, nonce, key):
    """The message, or None if the box does not open."""
    assert len(nonce) == 24 and len(key) == 32
    if len(box) < 16:
        return None
    out = ctypes.create_string_buffer(max(1, len(box) - 16))
    if _lib.crypto_secretbox_open_easy(out, box, len(box), nonce, key) != 0:
        return None
    return out.raw[:len(box) - 16]


def argon2id(passphrase, salt, passes, memory_kib):
    """Argon2id version 1.3 with one lane, 32 bytes."""
    assert len(salt) == 16
    out = ctypes.create_string_buffer(32)
    if _lib.crypto_pwhash(out, 32, passphrase, len(passphrase), salt, passes, memory_kib * 1024, 2) != 0:
        raise MemoryError("Argon2id failed")
    return out.raw
