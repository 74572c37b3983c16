// SQLite's C interface, and what Swift cannot call of it: variadic functions and cast macros. https://sqlite.org/c3ref/intro.html
#pragma once
#include <sqlite3.h>
#include <string.h>

/// sqlite3_db_config for the on/off verbs. `*result` receives the setting afterwards.
static inline int coffer_sqlite3_db_config(sqlite3 *db, int verb, int on, int *result) {
  return sqlite3_db_config(db, verb, on, result);
}

/// Binds a blob that SQLite copies before it returns (SQLITE_TRANSIENT). A null pointer of length 0 binds the empty blob, not NULL.
static inline int coffer_sqlite3_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
  if (count == 0) return sqlite3_bind_zeroblob(statement, index, 0);
  return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

/// What the header of the log's index says, in the memory that all processes share. Only while the connection of `file` has its log open.
/// 0 if there is no valid header, or a writer is changing it.
static inline int coffer_sqlite3_log_index(sqlite3_file *file, unsigned int *frames, unsigned char salts[8]) {
  // Two copies of 48 bytes. https://sqlite.org/walformat.html#the_wal_index_file_format
  unsigned char copies[2][48];
  volatile void *region = 0;
  if (file->pMethods->iVersion < 2 || file->pMethods->xShmMap(file, 0, 32768, 0, &region) != SQLITE_OK || !region) return 0;
  for (int copy = 0; copy < 2; copy++) {
    for (int i = 0; i < 48; i++) copies[copy][i] = ((volatile unsigned char *)region)[48 * copy + i];
    file->pMethods->xShmBarrier(file);
  }
  if (memcmp(copies[0], copies[1], 48) != 0 || !copies[0][12]) return 0;
  memcpy(frames, &copies[0][16], 4);
  memcpy(salts, &copies[0][32], 8);
  return 1;
}

/// SQLite's own xOpen for Unix, but for super-journals. Only transactions over several databases have them, and Coffer has none; but
/// SQLite deletes the file that a journal names as its super-journal, and whoever plants a journal beside the vault may name any file.
static inline int coffer_sqlite3_open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *result) {
  if (flags & SQLITE_OPEN_SUPER_JOURNAL) {
    file->pMethods = 0;
    return SQLITE_CORRUPT;
  }
  return sqlite3_vfs_find("unix")->xOpen(vfs, name, file, flags, result);
}

/// Registers the file system "coffer". To be called once.
static inline int coffer_sqlite3_register_file_system(void) {
  static sqlite3_vfs coffer;
  sqlite3_vfs *origin = sqlite3_vfs_find("unix");
  if (!origin) return SQLITE_ERROR;
  coffer = *origin;
  coffer.pNext = 0;
  coffer.zName = "coffer";
  coffer.xOpen = coffer_sqlite3_open_file;
  return sqlite3_vfs_register(&coffer, 0);
}
