// Linux calls that a program on a terminal needs and Swift's Glibc module does not have.
#pragma once
#include <linux/magic.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/vfs.h>
#include <unistd.h>

/// A descriptor that tells of the signals in `set`, which the caller has blocked. Closed on exec, never blocks.
static inline int coffer_signalfd(const sigset_t *set) {
  return signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/// The next signal that has come, or 0 where none has.
static inline int coffer_signalfd_next(int descriptor) {
  struct signalfd_siginfo info;
  return read(descriptor, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}

/// As coffer_signalfd_next. `is_from_kernel`: whether the kernel has sent it, as for a key that is typed at the terminal. `is_own`: whether
/// this process has.
static inline int coffer_signalfd_next_from(int descriptor, int *is_from_kernel, int *is_own) {
  struct signalfd_siginfo info;
  if (read(descriptor, &info, sizeof info) != sizeof info) return 0;
  *is_from_kernel = info.ssi_code == SI_KERNEL;
  *is_own = info.ssi_code <= 0 && (int)info.ssi_pid == getpid();
  return (int)info.ssi_signo;
}

/// Whether what `descriptor` refers to lies in memory: on tmpfs or ramfs.
static inline int coffer_is_in_memory(int descriptor) {
  struct statfs status;
  if (fstatfs(descriptor, &status) != 0) return 0;
  return status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC;
}

/// The default action again. In C because SIG_DFL is a macro with a cast, which Swift does not import.
static inline void coffer_signal_default(int number) {
  signal(number, SIG_DFL);
}

static inline void coffer_signal_ignore(int number) {
  signal(number, SIG_IGN);
}

/// Whether this process was started to ignore a signal, as by nohup(1), or has chosen to.
static inline int coffer_signal_is_ignored(int number) {
  struct sigaction action = {0};
  return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// Calls `handler` with all signals blocked. A signal that is ignored stays ignored, as nohup(1) wants it.
static inline void coffer_signal_handle(int number, void (*handler)(int)) {
  struct sigaction action = {0};
  if (sigaction(number, NULL, &action) != 0 || action.sa_handler == SIG_IGN) return;
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigfillset(&action.sa_mask);
  sigaction(number, &action, NULL);
}

/// The default action in place of a handler.
static inline void coffer_signal_unhandle(int number) {
  struct sigaction action = {0};
  if (sigaction(number, NULL, &action) != 0 || action.sa_handler == SIG_IGN) return;
  signal(number, SIG_DFL);
}
