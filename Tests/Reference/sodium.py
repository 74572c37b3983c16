"""The functions taken from libsodium: secretbox, Argon2id, Ed25519 and boxes for X25519 keys. BLAKE2b comes from hashlib."""
import ctypes
import hashlib

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


def sign_keypair(seed):
    public, secret = ctypes.create_string_buffer(32), ctypes.create_string_buffer(64)
    _lib.crypto_sign_seed_keypair(public, secret, seed)
    return public.raw, secret.raw


def sign(message, secret):
    out = ctypes.create_string_buffer(64)
    _lib.crypto_sign_detached(out, None, message, ctypes.c_ulonglong(len(message)), secret)
    return out.raw


def verify(signature, message, public):
    return _lib.crypto_sign_verify_detached(signature, message, ctypes.c_ulonglong(len(message)), public) == 0


def box_keypair(seed):
    public, secret = ctypes.create_string_buffer(32), ctypes.create_string_buffer(32)
    _lib.crypto_box_seed_keypair(public, secret, seed)
    return public.raw, secret.raw


def box_key_is_usable(public):
    out = ctypes.create_string_buffer(32)
    return _lib.crypto_scalarmult(out, bytes([1] * 32), public) == 0


def box_seal(message, public, ephemeral_seed):
    """crypto_box_seal with a key that is not random, so that vectors are the same each time."""
    own, secret = box_keypair(ephemeral_seed)
    nonce = hashlib.blake2b(own + public, digest_size=24).digest()
    out = ctypes.create_string_buffer(len(message) + 16)
    _lib.crypto_box_easy(out, message, ctypes.c_ulonglong(len(message)), nonce, public, secret)
    return own + out.raw


def box(message, nonce, public, secret):
    out = ctypes.create_string_buffer(len(message) + 16)
    _lib.crypto_box_easy(out, message, ctypes.c_ulonglong(len(message)), nonce, public, secret)
    return nonce + out.raw


def box_open(sealed, public, secret):
    """The message, or None if the box does not open."""
    out = ctypes.create_string_buffer(max(1, len(sealed) - 40))
    if _lib.crypto_box_open_easy(out, sealed[24:], ctypes.c_ulonglong(len(sealed) - 24), sealed[:24], public, secret) != 0:
        return None
    return out.raw[:len(sealed) - 40]


def box_seal_open(box, seed):
    """The message, or None if the box does not open."""
    public, secret = box_keypair(seed)
    out = ctypes.create_string_buffer(max(1, len(box) - 48))
    if _lib.crypto_box_seal_open(out, box, ctypes.c_ulonglong(len(box)), public, secret) != 0:
        return None
    return out.raw[:len(box) - 48]
