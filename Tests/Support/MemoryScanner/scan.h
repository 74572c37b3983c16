// Looks for needles in bytes: whole, or any piece of eight bytes, in each encoding that has been seen to leave copies behind.
#pragma once
#include <stddef.h>

#define ENCODING_COUNT 7
#define MAXIMUM_NEEDLES 32

extern const char *const encoding_names[ENCODING_COUNT];
extern const char *needle_names[MAXIMUM_NEEDLES];
extern int needle_count;

/// Longer than any pattern: how much of a block must be seen again with the next one.
enum { SCAN_OVERLAP = 32 };

struct hits {
  unsigned long counts[MAXIMUM_NEEDLES][ENCODING_COUNT];
};

/// At least eight bytes. Exits where there are fewer, or too many needles.
void add_needle(const char *name, const unsigned char *bytes, size_t count);
/// Lines of `name hex`.
void add_needles_of(const char *path);
/// The first line of a file, as it is.
void add_needle_line(const char *name, const char *path);
/// After the last needle and before the first scan.
void prepare_scan(void);
void scan(const unsigned char *bytes, size_t count, struct hits *hits);
