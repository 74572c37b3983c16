// SQLite's C interface, and what Swift cannot call of it: variadic functions and cast macros. https://sqlite.org/c3ref/intro.html
#pragma once
#include <sqlite3.h>

/// sqlite3_db_config for the on/off verbs. `*result` receives the setting afterwards.
static inline int coffer_sqlite3_db_config(sqlite3 *db, int verb, int on, int *result) {
  return sqlite3_db_config(db, verb, on, result);
}

/// Binds a blob that SQLite copies before it returns (SQLITE_TRANSIENT). A null pointer of length 0 binds the empty blob, not NULL.
static inline int coffer_sqlite3_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
  if (count == 0) return sqlite3_bind_zeroblob(statement, index, 0);
  return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
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
