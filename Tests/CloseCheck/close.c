// Preloaded into the tests and into the programs that they start, by Tests/CloseCheck/run: reports each close(2) and closedir(3) of a Swift
// program that fails with EBADF. Such a call closes a number that is not open any more: another thread may have opened it again by then.
// Shells and Python close numbers on trial, and are not reported.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// Copies, because a program may change its environment.
static char report_path[4096], own_path[4096];
static int is_checked;

__attribute__((constructor)) static void remember(void) {
  const char *report = getenv("COFFER_CLOSE_REPORT"), *own = getenv("LD_PRELOAD");
  if (report) snprintf(report_path, sizeof report_path, "COFFER_CLOSE_REPORT=%s", report);
  is_checked = dlsym(RTLD_DEFAULT, "swift_retain") != NULL;
  if (own) snprintf(own_path, sizeof own_path, "LD_PRELOAD=%s", own);
}

static void report(const char *call, int number) {
  char program[1024] = "";
  if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) strcpy(program, "?");
  const char *path = strchr(report_path, '=');
  int file = path ? open(path + 1, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
  // If it cannot report, because it has another root directory or no right to, it ends in a way that its test notices.
  if (file < 0) abort();
  dprintf(file, "%s: %s(%d) of process %d\n", program, call, number, getpid());
  void *frames[24];
  backtrace_symbols_fd(frames, backtrace(frames, 24), file);
  syscall(SYS_close, file);
}

int close(int number) {
  int result = (int)syscall(SYS_close, number);
  if (result != 0 && errno == EBADF && is_checked) {
    report("close", number);
    errno = EBADF;
  }
  return result;
}

int closedir(DIR *stream) {
  int (*real)(DIR *) = (int (*)(DIR *))dlsym(RTLD_NEXT, "closedir");
  int number = dirfd(stream), result = real(stream);
  if (result != 0 && errno == EBADF && is_checked) {
    report("closedir", number);
    errno = EBADF;
  }
  return result;
}

// Programs that get an environment of their own are to be checked too.

/// Whether it is a script. Tests compare the environment that a script gets, and its interpreter is not checked.
static int is_script(const char *program) {
  char start[2] = "";
  int file = open(program, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  int is_script = read(file, start, 2) == 2 && memcmp(start, "#!", 2) == 0;
  syscall(SYS_close, file);
  return is_script;
}

/// The environment with what `remember` has found; to be freed if it is another one.
static char **completed(const char *program, char *const environment[]) {
  size_t count = 0;
  int has_report = 0;
  for (; environment && environment[count]; count++) {
    // A test that preloads a library of its own is left alone.
    if (strncmp(environment[count], "LD_PRELOAD=", 11) == 0) return (char **)environment;
    has_report |= strncmp(environment[count], "COFFER_CLOSE_REPORT=", 20) == 0;
  }
  if (!*own_path || !*report_path || is_script(program)) return (char **)environment;
  char **all = malloc((count + 3) * sizeof *all);
  if (!all) abort();
  if (count) memcpy(all, environment, count * sizeof *all);
  all[count++] = own_path;
  if (!has_report) all[count++] = report_path;
  all[count] = NULL;
  return all;
}

typedef int spawn_call(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[], char *const[]);

static int spawn(const char *call, pid_t *process, const char *program, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const words[], char *const environment[]) {
  char **all = completed(program, environment);
  int result = ((spawn_call *)dlsym(RTLD_NEXT, call))(process, program, actions, attributes, words, all);
  if (all != (char **)environment) free(all);
  return result;
}

int posix_spawn(pid_t *process, const char *program, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                char *const words[], char *const environment[]) {
  return spawn("posix_spawn", process, program, actions, attributes, words, environment);
}

int posix_spawnp(pid_t *process, const char *program, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                 char *const words[], char *const environment[]) {
  return spawn("posix_spawnp", process, program, actions, attributes, words, environment);
}
