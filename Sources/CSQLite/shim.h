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
