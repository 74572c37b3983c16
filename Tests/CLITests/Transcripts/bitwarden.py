"""Encrypts the JSON on standard input as Bitwarden does for an export with a password: bitwarden.py PASSWORD ROUNDS [MEBIBYTES LANES].
Written from Bitwarden's description, with the libraries cryptography and argon2."""
import base64, hashlib, hmac, json, os, sys
import argon2.low_level
from cryptography.hazmat.primitives import hashes, padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC

password, rounds, cost = sys.argv[1].encode(), int(sys.argv[2]), [int(word) for word in sys.argv[3:]]
salt = base64.b64encode(os.urandom(16))
if cost:
    key = argon2.low_level.hash_secret_raw(
        password, hashlib.sha256(salt).digest(), rounds, cost[0] * 1024, cost[1], 32, argon2.low_level.Type.ID)
else:
    key = PBKDF2HMAC(hashes.SHA256(), 32, salt, rounds).derive(password)
encryption, authentication = (HKDFExpand(hashes.SHA256(), 32, use).derive(key) for use in (b"enc", b"mac"))


def sealed(data):
    vector = os.urandom(16)
    padder = padding.PKCS7(128).padder()
    encryptor = Cipher(algorithms.AES(encryption), modes.CBC(vector)).encryptor()
    content = encryptor.update(padder.update(data) + padder.finalize()) + encryptor.finalize()
    parts = vector, content, hmac.digest(authentication, vector + content, "sha256")
    return "2." + "|".join(base64.b64encode(part).decode() for part in parts)


print(json.dumps({
    "encrypted": True, "passwordProtected": True, "salt": salt.decode(), "kdfType": 1 if cost else 0, "kdfIterations": rounds,
    "kdfMemory": cost[0] if cost else None, "kdfParallelism": cost[1] if cost else None,
    "encKeyValidation_DO_NOT_EDIT": sealed(os.urandom(16)), "data": sealed(sys.stdin.buffer.read())}, indent=2))
