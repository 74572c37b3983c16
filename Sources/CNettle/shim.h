// HMAC, PBKDF2 and AES by nettle. The context is the caller's memory: Swift imports no structure of this alignment.
#pragma once
#include <nettle/aes.h>
#include <nettle/cbc.h>
#include <nettle/hmac.h>
#include <nettle/pbkdf2.h>

enum coffer_hmac_hash { COFFER_HMAC_SHA1, COFFER_HMAC_SHA256, COFFER_HMAC_SHA512 };

static inline size_t coffer_hmac_context_size(void) { return sizeof(struct hmac_sha512_ctx); }

/// The first `digest_length` bytes of HMAC. `context` has coffer_hmac_context_size() bytes, aligned for a 64-bit number.
static inline void coffer_hmac(enum coffer_hmac_hash hash, void *context, const void *key, size_t key_length, const void *message,
                               size_t message_length, void *digest, size_t digest_length) {
  switch (hash) {
  case COFFER_HMAC_SHA1:
    hmac_sha1_set_key(context, key_length, key);
    hmac_sha1_update(context, message_length, message);
    hmac_sha1_digest(context, digest_length, digest);
    break;
  case COFFER_HMAC_SHA256:
    hmac_sha256_set_key(context, key_length, key);
    hmac_sha256_update(context, message_length, message);
    hmac_sha256_digest(context, digest_length, digest);
    break;
  case COFFER_HMAC_SHA512:
    hmac_sha512_set_key(context, key_length, key);
    hmac_sha512_update(context, message_length, message);
    hmac_sha512_digest(context, digest_length, digest);
    break;
  }
}

/// The first `length` bytes of PBKDF2 with HMAC-SHA256. `context` as for coffer_hmac.
static inline void coffer_pbkdf2(void *context, const void *password, size_t password_length, const void *salt, size_t salt_length,
                                 unsigned iterations, void *key, size_t length) {
  hmac_sha256_set_key(context, password_length, password);
  pbkdf2(context, (nettle_hash_update_func *)hmac_sha256_update, (nettle_hash_digest_func *)hmac_sha256_digest, SHA256_DIGEST_SIZE,
         iterations, salt_length, salt, length, key);
}

static inline size_t coffer_aes_context_size(void) { return sizeof(struct aes256_ctx); }

static inline void coffer_aes_set_key(void *context, const void *key) { aes256_set_decrypt_key(context, key); }

/// AES-256-CBC, for whole blocks. `vector` becomes that of the next blocks.
static inline void coffer_aes_decrypt(const void *context, void *vector, const void *source, size_t length, void *target) {
  cbc_decrypt(context, (nettle_cipher_func *)aes256_decrypt, AES_BLOCK_SIZE, vector, length, target, source);
}

/// `digest` has 32 bytes.
static inline void coffer_sha256(const void *message, size_t length, void *digest) {
  struct sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, length, message);
  sha256_digest(&context, SHA256_DIGEST_SIZE, digest);
}
