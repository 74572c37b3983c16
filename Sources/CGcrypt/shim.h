// libgcrypt, and its start: gcry_control is variadic, which Swift does not import.
#pragma once
#include <gcrypt.h>

/// Starts the library with locked memory. 0 if it is older than the header.
static inline int coffer_gcrypt_start(void) {
  if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P)) return 1;
  if (!gcry_check_version(GCRYPT_VERSION)) return 0;
  gcry_control(GCRYCTL_INIT_SECMEM, 65536, 0);
  gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
  return 1;
}

// gcry_md_hd_t points to a struct whose content the header shows, so Swift would not take it for an opaque pointer as the others.
struct coffer_hash;

/// HMAC-SHA256 in locked memory.
static inline gcry_error_t coffer_hash_open(struct coffer_hash **hash) {
  gcry_md_hd_t handle;
  gcry_error_t result = gcry_md_open(&handle, GCRY_MD_SHA256, GCRY_MD_FLAG_HMAC | GCRY_MD_FLAG_SECURE);
  *hash = result ? 0 : (struct coffer_hash *)handle;
  return result;
}

static inline gcry_error_t coffer_hash_key(struct coffer_hash *hash, const void *key, size_t count) {
  return gcry_md_setkey((gcry_md_hd_t)hash, key, count);
}

static inline void coffer_hash_add(struct coffer_hash *hash, const void *bytes, size_t count) {
  gcry_md_write((gcry_md_hd_t)hash, bytes, count);
}

/// 32 bytes, valid until the hash is closed.
static inline const void *coffer_hash_result(struct coffer_hash *hash) {
  return gcry_md_read((gcry_md_hd_t)hash, GCRY_MD_SHA256);
}

static inline void coffer_hash_close(struct coffer_hash *hash) {
  gcry_md_close((gcry_md_hd_t)hash);
}
