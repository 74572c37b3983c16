#define _GNU_SOURCE
#include "TemporaryHome.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char home[4096];
static pid_t owner;

static int take_away(const char *path, const struct stat *status, int kind, struct FTW *place) {
  (void)status, (void)kind, (void)place;
  remove(path);
  return 0;
}

static void remove_home(void) {
  // A child that was forked and calls exit(3) has this as well.
  if (getpid() == owner) nftw(home, take_away, 16, FTW_DEPTH | FTW_PHYS);
}

// Before main: while there are other threads, nobody may change the environment. Children inherit it.
__attribute__((constructor)) static void make_home(void) {
  // A child that is to crash, as tests have them, removes nothing: it has that of its parent.
  const char *inherited = getenv("COFFER_HOME");
  if (inherited && strstr(inherited, "/coffer-tests-")) return;
  const char *directory = getenv("TMPDIR");
  int length = snprintf(home, sizeof home, "%s/coffer-tests-XXXXXX", directory && *directory == '/' ? directory : "/tmp");
  if (length >= (int)sizeof home || !mkdtemp(home) || setenv("COFFER_HOME", home, 1) != 0) {
    perror("COFFER_HOME for the tests");
    exit(1);
  }
  owner = getpid();
  // What the program registers later runs before: the settings are written by then.
  atexit(remove_home);
}
