// pam_coffer.so PROGRAM: opens the user's vault at the log-in, with the password of the log-in.
//
// `auth` keeps the password in a locked page. `session` starts `PROGRAM vault unlock` as the user, and gives it the password by a
// pipe. Nothing that goes wrong here fails a log-in. It uses libpam alone: the process of the log-in is root's.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <security/pam_modutil.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
#define UNUSED __attribute__((unused))
#define UNUSED_ARGUMENTS pam_handle_t *handle UNUSED, int flags UNUSED, int count UNUSED, const char **arguments UNUSED

static const char data_name[] = "pam_coffer";
// After this the log-in goes on without the vault.
static const int limit_milliseconds = 5000;
// For the end of a program that was killed.
static const int kill_milliseconds = 500;
// An exit status of coffer(1), and no news: many users have none.
static const int no_vault = 10;
// A pipe takes so many bytes at once, also of a user who has many pipes.
enum { page = 4096 };

// What is kept from `auth` to `session`: one page.
struct kept {
  size_t password_length;
  // The user's name with its zero, and the password.
  char texts[page - sizeof(size_t)];
};
_Static_assert(sizeof(struct kept) <= page, "one page");

static void wipe(pam_handle_t *handle UNUSED, void *data, int status UNUSED) {
  explicit_bzero(data, page);
  munmap(data, page);
}

// Locked, not in core dumps, and zero in forked processes, which nothing else would wipe.
static struct kept *locked_page(void) {
  void *data = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return NULL;
  if (mlock(data, page) == 0 && madvise(data, page, MADV_DONTDUMP) == 0 && madvise(data, page, MADV_WIPEONFORK) == 0) return data;
  munmap(data, page);
  return NULL;
}

EXPORTED int pam_sm_authenticate(pam_handle_t *handle, int flags UNUSED, int count UNUSED, const char **arguments UNUSED) {
  const void *user = NULL, *password = NULL;
  // That of an earlier attempt.
  pam_set_data(handle, data_name, NULL, NULL);
  if (pam_get_item(handle, PAM_USER, &user) != PAM_SUCCESS || user == NULL) return PAM_IGNORE;
  if (pam_get_item(handle, PAM_AUTHTOK, &password) != PAM_SUCCESS || password == NULL) return PAM_IGNORE;
  const size_t name_size = strlen(user) + 1, length = strlen(password);
  struct kept *kept;
  if (length == 0 || name_size + length > sizeof kept->texts) return PAM_IGNORE;
  kept = locked_page();
  if (kept == NULL) return PAM_IGNORE;
  kept->password_length = length;
  memcpy(kept->texts, user, name_size);
  memcpy(kept->texts + name_size, password, length);
  if (pam_set_data(handle, data_name, kept, wipe) != PAM_SUCCESS) wipe(handle, kept, 0);
  return PAM_IGNORE;
}

// The program of the user, all that it takes to start it.
struct start {
  const char *program;
  uid_t user;
  gid_t group;
  gid_t *groups;
  int group_count;
  char home[PATH_MAX + 8], runtime[PATH_MAX + 24];
};

static bool set(char *variable, size_t size, const char *name, const char *value) {
  const int printed = snprintf(variable, size, "%s=%s", name, value);
  return printed > 0 && (size_t)printed < size;
}

// Whether the log-in is for the user of `auth`, and has a directory of sockets that is this user's alone. In a process that was forked
// since then, the page is zero.
static bool prepare(pam_handle_t *handle, const struct kept *kept, struct start *start) {
  const void *name = NULL;
  if (pam_get_item(handle, PAM_USER, &name) != PAM_SUCCESS || name == NULL || strcmp(name, kept->texts) != 0) return false;
  const struct passwd *account = pam_modutil_getpwnam(handle, name);
  const char *directory = pam_getenv(handle, "XDG_RUNTIME_DIR");
  struct stat status;
  if (account == NULL || directory == NULL || directory[0] != '/' || lstat(directory, &status) != 0) return false;
  if (!S_ISDIR(status.st_mode) || status.st_uid != account->pw_uid || (status.st_mode & 077) != 0) return false;
  start->user = account->pw_uid;
  start->group = account->pw_gid;
  if (!set(start->home, sizeof start->home, "HOME", account->pw_dir)) return false;
  if (!set(start->runtime, sizeof start->runtime, "XDG_RUNTIME_DIR", directory)) return false;
  // Not after the fork: the databases of users may take locks, which another thread may have.
  int room = NGROUPS_MAX;
  start->groups = calloc((size_t)room, sizeof(gid_t));
  if (start->groups == NULL || getgrouplist(name, account->pw_gid, start->groups, &room) < 0) return false;
  start->group_count = room;
  return true;
}

// Never blocks: the password is shorter than what a pipe takes.
static int pipe_with_password(const struct kept *kept) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
  const ssize_t written = write(ends[1], kept->texts + strlen(kept->texts) + 1, kept->password_length);
  close(ends[1]);
  if (written == (ssize_t)kept->password_length && fcntl(ends[0], F_SETFL, 0) == 0) return ends[0];
  close(ends[0]);
  return -1;
}

// In the child: only system calls. It has no copy of the password but in the pipe.
static _Noreturn void become_program(const struct start *start, int password) {
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  umask(077);
  setsid();
  // Above the standard ones, which the process of the log-in may have closed.
  const int input = fcntl(password, F_DUPFD, 3), nothing = open("/dev/null", O_RDWR);
  const int output = fcntl(nothing, F_DUPFD, 3);
  if (dup2(input, 0) != 0 || dup2(output, 1) != 1 || dup2(output, 2) != 2 || close_range(3, ~0U, 0) != 0) _exit(126);
  if (setgroups((size_t)start->group_count, start->groups) != 0) _exit(126);
  if (setresgid(start->group, start->group, start->group) != 0) _exit(126);
  if (setresuid(start->user, start->user, start->user) != 0) _exit(126);
  if (chdir("/") != 0) _exit(126);
  const char *const arguments[] = {start->program, "vault", "unlock", "--at-log-in", "--no-input", "--passphrase-fd", "0", NULL};
  const char *const environment[] = {start->home, start->runtime, NULL};
  execve(start->program, (char *const *)arguments, (char *const *)environment);
  _exit(127);
}

static long long milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

// Whether the child has ended. One that hangs in the kernel is not waited for.
static bool has_ended(pid_t child, int limit, int *status) {
  const long long deadline = milliseconds() + limit;
  while (true) {
    const pid_t ended = waitpid(child, status, WNOHANG);
    // Also if another thread has waited for it: its number may be another process's by now.
    if (ended == child || (ended < 0 && errno != EINTR)) return true;
    if (milliseconds() >= deadline) return false;
    poll(NULL, 0, 10);
  }
}

static void run(pam_handle_t *handle, const struct start *start, int password) {
  // With a handler of the log-in's program, or ignored, the child could be reaped elsewhere.
  const struct sigaction ordinary = {.sa_handler = SIG_DFL};
  struct sigaction former;
  sigset_t all, mask;
  sigfillset(&all);
  sigaction(SIGCHLD, &ordinary, &former);
  // A handler is not to run in the child before it has the program.
  pthread_sigmask(SIG_SETMASK, &all, &mask);
  const pid_t child = fork();
  if (child == 0) become_program(start, password);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  int status = 0;
  if (child > 0 && !has_ended(child, limit_milliseconds, &status)) {
    kill(child, SIGKILL);
    has_ended(child, kill_milliseconds, &status);
    pam_syslog(handle, LOG_WARNING, "the vault stays locked: %s took over %d ms", start->program, limit_milliseconds);
  } else if (child < 0 || (status != 0 && WEXITSTATUS(status) != no_vault)) {
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    pam_syslog(handle, LOG_NOTICE, "the vault stays locked: %s has ended with %d", start->program, code);
  }
  sigaction(SIGCHLD, &former, NULL);
}

EXPORTED int pam_sm_open_session(pam_handle_t *handle, int flags UNUSED, int count, const char **arguments) {
  const void *data = NULL;
  if (pam_get_data(handle, data_name, &data) != PAM_SUCCESS || data == NULL) return PAM_SUCCESS;
  struct start start = {.program = count == 1 && arguments[0][0] == '/' ? arguments[0] : NULL};
  if (start.program == NULL) pam_syslog(handle, LOG_ERR, "the argument has to be the path of coffer");
  const int password = start.program != NULL && prepare(handle, data, &start) ? pipe_with_password(data) : -1;
  // Before the fork.
  pam_set_data(handle, data_name, NULL, NULL);
  if (password >= 0) {
    run(handle, &start, password);
    close(password);
  }
  free(start.groups);
  return PAM_SUCCESS;
}

EXPORTED int pam_sm_close_session(UNUSED_ARGUMENTS) {
  return PAM_SUCCESS;
}

EXPORTED int pam_sm_setcred(UNUSED_ARGUMENTS) {
  return PAM_IGNORE;
}

// The vault keeps its passphrase: without the former one, as if root changes the password, it could not be changed anyway.
EXPORTED int pam_sm_chauthtok(UNUSED_ARGUMENTS) {
  return PAM_IGNORE;
}
