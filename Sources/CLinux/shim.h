// Linux calls that Swift's Glibc module does not have: variadic ones, and system calls without a wrapper in Debian 12's glibc.
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/// memfd_secret(2): memory that the kernel itself does not map. -1 with ENOSYS where the kernel has none, or has it switched off.
static inline int coffer_memfd_secret(unsigned int flags) {
#ifdef SYS_memfd_secret
  return (int)syscall(SYS_memfd_secret, flags);
#else
  (void)flags;
  errno = ENOSYS;
  return -1;
#endif
}

/// prctl(2) with one argument.
static inline int coffer_prctl(int option, unsigned long argument) {
  return prctl(option, argument, 0, 0, 0);
}
