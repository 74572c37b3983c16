// SQLite as a program without Coffer would use it, and the version of libsodium.
#pragma once
#include <sodium/version.h>
#include <malloc.h>
#include <sqlite3.h>
