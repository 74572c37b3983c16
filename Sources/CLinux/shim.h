// Linux calls that Swift's Glibc module does not have: variadic ones, and system calls without a wrapper in Debian 12's glibc.
//
// Without _GNU_SOURCE: with it some types of the system look different, and no other module that includes the same headers fits this one.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <string.h>
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

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/// close_range(2) from `first` on: the descriptors are closed when the process becomes another program. -1 with ENOSYS or EINVAL
/// before Linux 5.11.
static inline int coffer_close_on_exec_from(unsigned int first) {
  return (int)syscall(SYS_close_range, first, ~0U, 4U);
}

/// prctl(2) with one argument.
static inline int coffer_prctl(int option, unsigned long argument) {
  return prctl(option, argument, 0, 0, 0);
}

// Locks of an open file description. Linux only, and hidden without _GNU_SOURCE.
#ifndef F_OFD_SETLK
#define F_OFD_SETLK 37
#endif

/// fcntl(F_OFD_SETLK) for one byte: `type` is F_WRLCK, F_RDLCK or F_UNLCK. Never waits: -1 with EAGAIN or EACCES where another has it.
static inline int coffer_ofd_lock(int descriptor, short type, long offset) {
  struct flock lock = {0};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = offset;
  lock.l_len = 1;
  return fcntl(descriptor, F_OFD_SETLK, &lock);
}

#ifndef F_OFD_GETLK
#define F_OFD_GETLK 36
#endif

/// fcntl(F_OFD_GETLK) for `count` bytes, or all from `offset` on if that is 0: 1 if another open file description has a lock on one of
/// them, 0 if none has. Takes none itself.
static inline int coffer_ofd_is_locked(int descriptor, long offset, long count) {
  struct flock lock = {0};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = offset;
  lock.l_len = count;
  if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0) return -1;
  return lock.l_type != F_UNLCK;
}

/// renameat2(RENAME_NOREPLACE): -1 with EEXIST where the new name is taken, EINVAL where the file system cannot do it.
static inline int coffer_rename_exclusive(int directory, const char *from, int target, const char *to) {
  return (int)syscall(SYS_renameat2, directory, from, target, to, 1u);
}

/// fstatfs(2): which kind of file system it is, as in linux/magic.h, or 0.
static inline unsigned int coffer_file_system(int descriptor) {
  struct statfs status;
  return fstatfs(descriptor, &status) == 0 ? (unsigned int)status.f_type : 0;
}

/// eventfd(2), closed on exec, never waiting.
static inline int coffer_eventfd(void) {
  return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

/// eventfd(2) that counts, closed on exec, never waiting: each read(2) takes one.
static inline int coffer_eventfd_semaphore(void) {
  return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
}

/// timerfd_create(2) of the clock that only goes on, closed on exec, never waiting.
static inline int coffer_timer(void) {
  return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
}

/// From now on it becomes readable once, after so many milliseconds.
static inline int coffer_set_timer(int timer, int milliseconds) {
  struct itimerspec time = {0};
  time.it_value.tv_sec = milliseconds / 1000;
  time.it_value.tv_nsec = milliseconds % 1000 * 1000000L;
  return timerfd_settime(timer, 0, &time, 0);
}

/// inotify_init1(2), closed on exec, never waiting.
static inline int coffer_inotify(void) {
  return inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
}

/// The name of this program, as glibc has it from the kernel: without the directory, and without /proc.
static inline const char *coffer_program_name(void) {
  extern char *program_invocation_short_name;
  return program_invocation_short_name;
}

/// Names the calling thread, for ps(1) and debuggers. At most 15 characters.
static inline void coffer_name_thread(const char *name) {
  prctl(PR_SET_NAME, name, 0, 0, 0);
}

/// Whether the kernel started the program with more rights than its caller has: set-user-ID, set-group-ID, capabilities of the file.
static inline int coffer_is_elevated(void) {
  return getauxval(AT_SECURE) != 0;
}

/// memfd_create(2), closed on exec.
static inline int coffer_memory_file(void) {
  return (int)syscall(SYS_memfd_create, "coffer", 1u);  // MFD_CLOEXEC
}

/// memfd_create(2), closed on exec, that can be sealed and never be executed.
static inline int coffer_sealable_file(void) {
  int descriptor = (int)syscall(SYS_memfd_create, "coffer", 1u | 2u | 8u);  // MFD_CLOEXEC, MFD_ALLOW_SEALING, MFD_NOEXEC_SEAL
  if (descriptor >= 0 || errno != EINVAL) return descriptor;
  // Before Linux 6.3.
  return (int)syscall(SYS_memfd_create, "coffer", 1u | 2u);
}

/// From now on a file of coffer_sealable_file can be read alone.
static inline int coffer_seal(int descriptor) {
  return fcntl(descriptor, 1033 /* F_ADD_SEALS */, 1 | 2 | 4 | 8);  // F_SEAL_SEAL, _SHRINK, _GROW, _WRITE
}

// Hidden without _GNU_SOURCE.
extern int posix_spawn_file_actions_addfchdir_np(posix_spawn_file_actions_t *, int);

extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);

/// The program that is spawned gets no descriptor from this number on.
static inline int coffer_spawn_close_from(posix_spawn_file_actions_t *actions, int lowest) {
  return posix_spawn_file_actions_addclosefrom_np(actions, lowest);
}

extern int posix_spawn_file_actions_addtcsetpgrp_np(posix_spawn_file_actions_t *, int);

/// The process group of the program that is spawned becomes the one in the foreground of a terminal, before the program begins.
static inline int coffer_spawn_in_foreground(posix_spawn_file_actions_t *actions, int terminal) {
  return posix_spawn_file_actions_addtcsetpgrp_np(actions, terminal);
}

/// kcmp(2): 1 if both descriptors are of one open file, 0 if not; -1 if the kernel does not tell.
static inline int coffer_is_same_open_file(int first, int second) {
  long result = syscall(SYS_kcmp, getpid(), getpid(), 0 /* KCMP_FILE */, (long)first, (long)second);
  return result < 0 ? -1 : result == 0;
}

/// The program that is spawned begins in this open directory.
static inline int coffer_spawn_in_directory(posix_spawn_file_actions_t *actions, int directory) {
  return posix_spawn_file_actions_addfchdir_np(actions, directory);
}

/// What statx(2) tells, as the kernel lays it out. The header that declares it is not the same for all who include it.
struct coffer_statx_time {
  long long seconds;
  unsigned int nanoseconds;
  int reserved;
};
struct coffer_statx {
  unsigned int mask, block_size;
  unsigned long long attributes;
  unsigned int link_count, user, group;
  unsigned short mode, reserved;
  unsigned long long inode, size, blocks, attributes_mask;
  struct coffer_statx_time accessed, born, changed, modified;
  unsigned int special_major, special_minor, device_major, device_minor;
  unsigned long long more[14];
};

/// statx(2) of a path, of a link itself: type, inode and, where `mask` has 0x800, when the file was made.
static inline int coffer_statx(const char *path, struct coffer_statx *status) {
  return (int)syscall(SYS_statx, AT_FDCWD, path, 0x100 /* AT_SYMLINK_NOFOLLOW */, 0x901u, status);
}

// Who is at the other end of a socket. Hidden without _GNU_SOURCE, and younger than the headers.
struct coffer_credentials {
  int process;
  unsigned int user, group;
};

/// getsockopt(SO_PEERCRED): who connected, as it was then.
static inline int coffer_peer_credentials(int socket, struct coffer_credentials *credentials) {
  socklen_t length = sizeof *credentials;
  return getsockopt(socket, SOL_SOCKET, 17, credentials, &length);
}

/// getsockopt(SO_PEERPIDFD): a descriptor of the process that connected, also when its number has been given to another one. Since Linux 6.5;
/// -1 with ENOPROTOOPT before.
static inline int coffer_peer_pidfd(int socket) {
  int descriptor = -1;
  socklen_t length = sizeof descriptor;
  return getsockopt(socket, SOL_SOCKET, 77, &descriptor, &length) == 0 ? descriptor : -1;
}

/// pidfd_open(2), closed on exec.
static inline int coffer_pidfd_open(int process) {
  return (int)syscall(434, process, 0u);
}

/// From now on each message says who has sent it.
static inline int coffer_pass_credentials(int socket) {
  int on = 1;
  return setsockopt(socket, SOL_SOCKET, 16 /* SO_PASSCRED */, &on, sizeof on);
}

/// The number of the process that has sent the next bytes of a socket with SO_PASSCRED, which stay there. 0 if the kernel does not tell, -1
/// if there are none.
static inline int coffer_next_sender(int socket) {
  char byte;
  struct iovec vector = {&byte, 1};
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(struct coffer_credentials))];
  } control;
  struct msghdr message = {0};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control.room;
  message.msg_controllen = sizeof control.room;
  if (recvmsg(socket, &message, MSG_DONTWAIT | MSG_PEEK) <= 0) return -1;
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != 2 /* SCM_CREDENTIALS */) return 0;
  struct coffer_credentials credentials;
  memcpy(&credentials, CMSG_DATA(head), sizeof credentials);
  return credentials.process;
}

/// recvmsg(2) that waits or does not. The number of the process that has sent the bytes goes to `process`, 0 where nobody says. If exactly
/// one descriptor comes with the bytes and `descriptor` is not NULL, it goes there, closed on exec; else -1 does. Others are closed: those
/// without room by the kernel, and one that fits into the padding of the room here.
static inline long coffer_receive(int socket, void *bytes, unsigned long count, int waits, int *process, int *descriptor) {
  struct iovec vector = {bytes, count};
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(struct coffer_credentials)) + CMSG_SPACE(sizeof(int))];
  } control;
  struct msghdr message = {0};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control.room;
  message.msg_controllen = descriptor ? sizeof control.room : CMSG_SPACE(sizeof(struct coffer_credentials));
  long got = recvmsg(socket, &message, (waits ? 0 : MSG_DONTWAIT) | 0x40000000 /* MSG_CMSG_CLOEXEC */);
  *process = 0;
  if (descriptor) *descriptor = -1;
  for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); got >= 0 && head; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level == SOL_SOCKET && head->cmsg_type == 2 /* SCM_CREDENTIALS */) {
      struct coffer_credentials credentials;
      memcpy(&credentials, CMSG_DATA(head), sizeof credentials);
      *process = credentials.process;
    }
    if (descriptor && head->cmsg_level == SOL_SOCKET && head->cmsg_type == 1 /* SCM_RIGHTS */) {
      unsigned long count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (unsigned long i = 0; i < count; i++) {
        int one;
        memcpy(&one, CMSG_DATA(head) + i * sizeof one, sizeof one);
        if (count == 1) *descriptor = one;
        else close(one);
      }
    }
  }
  return got;
}

/// sendmsg(2) of bytes with one descriptor. Never waits, never raises SIGPIPE.
static inline long coffer_send_with_descriptor(int socket, const void *bytes, unsigned long count, int descriptor) {
  struct iovec vector = {(void *)bytes, count};
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct msghdr message = {0};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control.room;
  message.msg_controllen = sizeof control.room;
  control.header.cmsg_level = SOL_SOCKET;
  control.header.cmsg_type = 1; /* SCM_RIGHTS */
  control.header.cmsg_len = CMSG_LEN(sizeof descriptor);
  memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
  return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Writes bytes to a pipe of another program. Never waits: write(2) would, unless the pipe had a flag that the other program can change,
/// and splice(2) has a flag of its own. Returns the count, or -1 with errno.
static inline long coffer_write_to_pipe(int pipe, const void *bytes, unsigned long count) {
  int ends[2];
  if (syscall(SYS_pipe2, ends, 02000000 /* O_CLOEXEC */) != 0) return -1;
  long done = write(ends[1], bytes, count);
  if (done > 0) done = syscall(SYS_splice, ends[0], (void *)0, pipe, (void *)0, done, 2 /* SPLICE_F_NONBLOCK */);
  int reason = errno;
  close(ends[0]);
  close(ends[1]);
  errno = reason;
  return done;
}

/// send(2). Never waits, never raises SIGPIPE.
static inline long coffer_send(int socket, const void *bytes, unsigned long count) {
  return send(socket, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// accept4(2), closed on exec.
static inline int coffer_accept(int socket) {
  return (int)syscall(SYS_accept4, socket, (void *)0, (void *)0, 02000000 /* SOCK_CLOEXEC */);
}

/// socket(2) of the local kind, closed on exec.
static inline int coffer_local_socket(void) {
  return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/// socketpair(2) of the local kind, closed on exec.
static inline int coffer_local_pair(int pair[2]) {
  return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
}

struct coffer_local_address {
  unsigned short family;
  char path[108];
};

/// getsockname(2) of a local socket with a path, as text. -1 where it has none, or where it does not fit.
static inline int coffer_local_own_name(int socket, char *path, size_t capacity) {
  struct coffer_local_address address = {0, {0}};
  socklen_t length = sizeof address;
  if (getsockname(socket, (struct sockaddr *)&address, &length) != 0 || address.path[0] != '/') return -1;
  size_t count = strnlen(address.path, sizeof address.path);
  if (count >= capacity) return -1;
  memcpy(path, address.path, count);
  path[count] = 0;
  return 0;
}

/// The address of the other end, as it was bound there: `sun_path`, which begins with a zero byte if it is abstract.
/// Returns its length, 0 if it has none; -1 with errno.
static inline int coffer_local_peer_name(int socket, unsigned char path[108]) {
  struct coffer_local_address address = {0, {0}};
  socklen_t length = sizeof address;
  if (getpeername(socket, (struct sockaddr *)&address, &length) != 0) return -1;
  if (address.family != AF_UNIX || length <= sizeof address.family) return 0;
  length -= sizeof address.family;
  memcpy(path, address.path, length);
  return (int)length;
}

/// bind(2) to a path, or connect(2) to it. -1 with ENAMETOOLONG where it does not fit.
static inline int coffer_local_name(int socket, const char *path, int is_bound) {
  struct coffer_local_address address = {AF_UNIX, {0}};
  size_t length = strlen(path);
  if (length >= sizeof address.path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(address.path, path, length);
  return is_bound ? bind(socket, (struct sockaddr *)&address, sizeof address)
                  : connect(socket, (struct sockaddr *)&address, sizeof address);
}
