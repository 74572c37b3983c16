#include "scan.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const encoding_names[ENCODING_COUNT] = {"raw", "utf16", "hex", "HEX", "base64-0", "base64-1", "base64-2"};
const char *needle_names[MAXIMUM_NEEDLES];
int needle_count;

enum { PIECE = 8, MAXIMUM_NEEDLE = 4096 };

struct pattern {
  uint64_t key;
  unsigned char bytes[SCAN_OVERLAP];
  unsigned char count, encoding, needle;
};

static struct pattern *patterns;
static size_t pattern_count, pattern_capacity;
static unsigned char seen[1 << 17];

static uint64_t key_of(const unsigned char *bytes) {
  uint64_t key;
  memcpy(&key, bytes, sizeof key);
  return key;
}

static uint32_t hash(uint64_t key) { return (uint32_t)((key * 0x9E3779B97F4A7C15u) >> 44); }

static void fail(const char *what) {
  fprintf(stderr, "MemoryScanner: %s\n", what);
  exit(70);
}

static void add_pattern(const unsigned char *bytes, int count, int encoding, int needle) {
  if (pattern_count == pattern_capacity) {
    pattern_capacity = pattern_capacity * 2 + 1024;
    patterns = realloc(patterns, pattern_capacity * sizeof *patterns);
    if (!patterns) fail("out of memory");
  }
  struct pattern *pattern = &patterns[pattern_count++];
  memset(pattern, 0, sizeof *pattern);
  memcpy(pattern->bytes, bytes, (size_t)count);
  pattern->key = key_of(bytes);
  pattern->count = (unsigned char)count;
  pattern->encoding = (unsigned char)encoding;
  pattern->needle = (unsigned char)needle;
}

/// Every window of `width` bytes.
static void add_windows(const unsigned char *bytes, size_t count, size_t width, size_t step, int encoding, int needle) {
  for (size_t start = 0; start + width <= count; start += step) add_pattern(bytes + start, (int)width, encoding, needle);
}

/// The letters that the needle alone settles when `alignment` other bytes go before it in a group of three. Eight bytes settle ten.
static void add_base64(const unsigned char *bytes, size_t count, unsigned alignment, const char *last, int needle) {
  char letters[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  memcpy(letters + 62, last, 2);
  static unsigned char text[MAXIMUM_NEEDLE * 2];
  size_t length = 0;
  for (size_t letter = (8 * alignment + 5) / 6; 6 * letter + 6 <= 8 * (alignment + count); letter++) {
    unsigned value = 0;
    for (size_t bit = 6 * letter - 8 * alignment; bit < 6 * letter - 8 * alignment + 6; bit++)
      value = value << 1 | (bytes[bit / 8] >> (7 - bit % 8) & 1);
    text[length++] = (unsigned char)letters[value];
  }
  add_windows(text, length, 10, 1, 4 + (int)alignment, needle);
}

void add_needle(const char *name, const unsigned char *bytes, size_t count) {
  if (count < PIECE || count > MAXIMUM_NEEDLE) fail("a needle's length");
  if (needle_count == MAXIMUM_NEEDLES) fail("too many needles");
  int needle = needle_count++;
  needle_names[needle] = strdup(name);
  static unsigned char text[MAXIMUM_NEEDLE * 2 + 1];
  add_windows(bytes, count, PIECE, 1, 0, needle);
  for (size_t index = 0; index < count; index++) {
    text[2 * index] = bytes[index];
    text[2 * index + 1] = 0;
  }
  add_windows(text, 2 * count, 2 * PIECE, 2, 1, needle);
  for (int upper = 0; upper < 2; upper++) {
    for (size_t index = 0; index < count; index++) {
      char digits[3];
      snprintf(digits, sizeof digits, upper ? "%02X" : "%02x", bytes[index]);
      memcpy(text + 2 * index, digits, 2);
    }
    add_windows(text, 2 * count, 2 * PIECE, 2, 2 + upper, needle);
  }
  for (unsigned alignment = 0; alignment < 3; alignment++) {
    add_base64(bytes, count, alignment, "+/", needle);
    add_base64(bytes, count, alignment, "-_", needle);
  }
}

void add_needles_of(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) fail("the needles cannot be read");
  char name[64];
  static char digits[2 * MAXIMUM_NEEDLE + 1];
  while (fscanf(file, "%63s %8192s", name, digits) == 2) {
    static unsigned char bytes[MAXIMUM_NEEDLE];
    size_t count = strlen(digits) / 2;
    for (size_t index = 0; index < count; index++) {
      unsigned value;
      if (sscanf(digits + 2 * index, "%2x", &value) != 1) fail("a needle is not hexadecimal");
      bytes[index] = (unsigned char)value;
    }
    add_needle(name, bytes, count);
  }
  fclose(file);
}

void add_needle_line(const char *name, const char *path) {
  FILE *file = fopen(path, "r");
  static char line[MAXIMUM_NEEDLE];
  if (!file || !fgets(line, sizeof line, file)) fail("a needle's file cannot be read");
  fclose(file);
  add_needle(name, (unsigned char *)line, strcspn(line, "\n"));
}

static int compare(const void *left, const void *right) {
  uint64_t a = ((const struct pattern *)left)->key, b = ((const struct pattern *)right)->key;
  return a < b ? -1 : a > b;
}

void prepare_scan(void) {
  qsort(patterns, pattern_count, sizeof *patterns, compare);
  memset(seen, 0, sizeof seen);
  for (size_t index = 0; index < pattern_count; index++) {
    uint32_t bit = hash(patterns[index].key);
    seen[bit >> 3] |= (unsigned char)(1 << (bit & 7));
  }
}

static void compare_all(const unsigned char *at, size_t left, struct hits *hits) {
  uint64_t key = key_of(at);
  size_t low = 0, high = pattern_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (patterns[middle].key < key) low = middle + 1;
    else high = middle;
  }
  for (; low < pattern_count && patterns[low].key == key; low++) {
    const struct pattern *pattern = &patterns[low];
    if (pattern->count <= left && memcmp(pattern->bytes, at, pattern->count) == 0)
      hits->counts[pattern->needle][pattern->encoding]++;
  }
}

void scan(const unsigned char *bytes, size_t count, struct hits *hits) {
  for (size_t start = 0; start + PIECE <= count; start++) {
    uint32_t bit = hash(key_of(bytes + start));
    if (seen[bit >> 3] >> (bit & 7) & 1) compare_all(bytes + start, count - start, hits);
  }
}
