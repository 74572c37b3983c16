// HMAC by nettle. The context is the caller's memory: Swift imports no structure of this alignment.
#pragma once
#include <nettle/hmac.h>

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
