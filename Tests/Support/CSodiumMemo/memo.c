// The slow functions of libsodium in a program that calls them with the same arguments in many simulated devices: libsodium computes each
// result once, and then it is looked up. The results depend on nothing but the arguments. For programs with one thread, and without
// secrets that are worth anything.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { slots = 1 << 12 };

typedef struct {
  unsigned char digest[crypto_generichash_BYTES];
  unsigned char output[crypto_scalarmult_BYTES];
  int status;
  int isUsed;
} result;

// The results of each function, so that equal arguments of another one are not taken for its own.
static result verifications[slots], products[slots];

typedef struct {
  const unsigned char *bytes;
  unsigned long long count;
} part;

// The place of the result of these arguments. It is unused, and has the digest of the arguments, if the result is not known.
static result *find(result *results, const part *parts, int count) {
  crypto_generichash_state state;
  unsigned char digest[crypto_generichash_BYTES];
  crypto_generichash_init(&state, NULL, 0, sizeof digest);
  for (int i = 0; i < count; i++) crypto_generichash_update(&state, parts[i].bytes, parts[i].count);
  crypto_generichash_final(&state, digest, sizeof digest);
  result *found = &results[(digest[0] | digest[1] << 8) % slots];
  if (memcmp(found->digest, digest, sizeof digest) != 0) found->isUsed = 0;
  memcpy(found->digest, digest, sizeof digest);
  return found;
}

static void *next(const char *name) {
  void *function = dlsym(RTLD_NEXT, name);
  if (!function) abort();
  return function;
}

int crypto_sign_verify_detached(
    const unsigned char *signature, const unsigned char *message, unsigned long long count, const unsigned char *key) {
  static int (*verify)(const unsigned char *, const unsigned char *, unsigned long long, const unsigned char *);
  if (!verify) verify = next("crypto_sign_verify_detached");
  part parts[] = {{signature, crypto_sign_BYTES}, {key, crypto_sign_PUBLICKEYBYTES}, {message, count}};
  result *known = find(verifications, parts, 3);
  if (!known->isUsed) known->status = verify(signature, message, count, key);
  known->isUsed = 1;
  return known->status;
}

int crypto_scalarmult(unsigned char *product, const unsigned char *scalar, const unsigned char *point) {
  static int (*multiply)(unsigned char *, const unsigned char *, const unsigned char *);
  if (!multiply) multiply = next("crypto_scalarmult");
  part parts[] = {{scalar, crypto_scalarmult_SCALARBYTES}, {point, crypto_scalarmult_BYTES}};
  result *known = find(products, parts, 2);
  if (!known->isUsed) known->status = multiply(known->output, scalar, point);
  known->isUsed = 1;
  memcpy(product, known->output, sizeof known->output);
  return known->status;
}
