// Runs a program, and looks for needles in all of its memory: whenever it stops itself, and when it ends.
//
//   MemoryScanner run OPTIONS -- PROGRAM ARGUMENT…
//     -n FILE        needles: lines of `name hex`
//     -o NAME=FILE   a needle that the program itself makes: the first line of FILE when the program ends
//     -r FILE        the report
//     -d N=FILE      a descriptor of the program; 1 and 2 are written
//     -t FILE        on a terminal of its own; the lines of FILE are typed, one for each question
//     -f             memfd_secret(2) fails, so that secrets lie in ordinary locked memory, where they can be seen
//   MemoryScanner file NEEDLES FILE…   the same for files, such as core dumps
//   MemoryScanner process NEEDLES PID  the same for a process that somebody else has started, as it is now; takes root
//
// The report has a line for each scan, `scan PHASE BYTES UNREADABLE`, and one for each thing found,
// `hit PHASE arena|other NEEDLE ENCODING COUNT MAPPING`. Phases are 1, 2, … for stops and `exit`. Its last line is `exit N`,
// `signal N`, or missing.
//
// The memory is opened when the program has been loaded and before its first instruction: later it may make itself undumpable,
// and then only root could. Pages of memfd_secret(2) cannot be read by anybody, and count as unreadable.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pty.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scan.h"

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

static FILE *report;
static int memory = -1, maps = -1;

static void fail(const char *what) {
  fprintf(stderr, "MemoryScanner: %s: %s\n", what, strerror(errno));
  exit(70);
}

static void report_hits(const char *phase, const char *region, const char *mapping, const struct hits *hits) {
  for (int needle = 0; needle < needle_count; needle++)
    for (int encoding = 0; encoding < ENCODING_COUNT; encoding++)
      if (hits->counts[needle][encoding])
        fprintf(
            report, "hit %s %s %s %s %lu %s\n", phase, region, needle_names[needle], encoding_names[encoding],
            hits->counts[needle][encoding], mapping);
}

/// - Returns: how much could be read.
static size_t scan_range(int file, off_t start, off_t end, struct hits *hits) {
  static unsigned char block[(1 << 20) + SCAN_OVERLAP];
  size_t kept = 0, total = 0;
  while (start < end) {
    size_t wanted = (size_t)(end - start) < 1 << 20 ? (size_t)(end - start) : 1 << 20;
    ssize_t count = pread(file, block + kept, wanted, start);
    if (count <= 0) {
      // A page that is not there, or is nobody's: the ones behind it may be.
      kept = 0;
      start += 4096 - start % 4096;
      continue;
    }
    total += (size_t)count;
    start += count;
    // A pattern that lies in the part seen twice would count twice, which does no harm: the question is whether there is one.
    scan(block, kept + (size_t)count, hits);
    size_t length = kept + (size_t)count;
    kept = length < SCAN_OVERLAP ? length : SCAN_OVERLAP;
    memmove(block, block + length - kept, kept);
  }
  return total;
}

/// All of smaps, in memory of our own, because the file changes between two reads.
static char *read_maps(void) {
  static char *text;
  static size_t capacity;
  size_t length = 0;
  if (lseek(maps, 0, SEEK_SET) < 0) fail("smaps");
  while (1) {
    if (capacity - length < 65536) {
      capacity += 1 << 20;
      text = realloc(text, capacity);
      if (!text) fail("memory");
    }
    ssize_t count = read(maps, text + length, 65535);
    if (count < 0) fail("smaps");
    if (count == 0) break;
    length += (size_t)count;
  }
  text[length] = 0;
  return text;
}

static void scan_process(const char *phase) {
  unsigned long start = 0, end = 0, total = 0, unreadable = 0;
  char permissions[8] = "", name[256] = "";
  for (char *line = strtok(read_maps(), "\n"); line; line = strtok(NULL, "\n")) {
    unsigned long from, to;
    int at = 0;
    char mode[8];
    if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %n", &from, &to, mode, &at) >= 3 && at > 0) {
      start = from;
      end = to;
      strcpy(permissions, mode);
      snprintf(name, sizeof name, "%s", line[at] ? line + at : "anonymous");
    } else if (strncmp(line, "VmFlags:", 8) == 0 && permissions[0] == 'r' && strcmp(name, "[vsyscall]") != 0) {
      // Locked and left out of core dumps: that is how the arena tells itself from all other memory.
      int is_arena = strstr(line, " lo") && strstr(line, " dd");
      struct hits hits = {0};
      size_t read = scan_range(memory, (off_t)start, (off_t)end, &hits);
      total += read;
      unreadable += end - start - read;
      report_hits(phase, is_arena ? "arena" : "other", name, &hits);
    }
  }
  fprintf(report, "scan %s %lu %lu\n", phase, total, unreadable);
  fflush(report);
}

static void open_process(pid_t process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/mem", process);
  memory = open(path, O_RDONLY | O_CLOEXEC);
  snprintf(path, sizeof path, "/proc/%d/smaps", process);
  maps = open(path, O_RDONLY | O_CLOEXEC);
  if (memory < 0 || maps < 0) fail(path);
}

static void refuse_secret_memory(void) {
  struct sock_filter instructions[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_secret, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof instructions / sizeof instructions[0], instructions};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) fail("seccomp");
}

struct options {
  const char *needles, *made[8], *descriptors[16], *typed;
  int made_count, descriptor_count, is_fallback;
};

static void become(const struct options *options, char **command) {
  for (int index = 0; index < options->descriptor_count; index++) {
    int number = atoi(options->descriptors[index]);
    const char *path = strchr(options->descriptors[index], '=') + 1;
    int file = open(path, number == 1 || number == 2 ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY, 0600);
    if (file < 0) fail(path);
    if (file != number) {
      dup2(file, number);
      close(file);
    }
  }
  if (options->is_fallback) refuse_secret_memory();
  if (ptrace(PTRACE_TRACEME, 0, 0, 0)) fail("ptrace");
  raise(SIGSTOP);
  execv(command[0], command);
  fail(command[0]);
}

/// Types the next line when a question has been asked.
static void answer(int terminal, FILE *typed) {
  static char tail[3];
  struct pollfd entry = {terminal, POLLIN, 0};
  while (poll(&entry, 1, 5) > 0) {
    char text[4096];
    ssize_t count = read(terminal, text, sizeof text);
    if (count <= 0) return;
    for (ssize_t index = 0; index < count; index++) {
      tail[0] = tail[1];
      tail[1] = text[index];
    }
  }
  if (tail[0] != ':' || tail[1] != ' ') return;
  tail[0] = 0;
  char line[4096];
  if (!fgets(line, sizeof line, typed)) return;
  size_t length = strcspn(line, "\n");
  line[length] = '\r';
  if (write(terminal, line, length + 1) < 0) return;
}

static int trace(pid_t process, const struct options *options, int terminal) {
  FILE *typed = options->typed ? fopen(options->typed, "r") : NULL;
  char phase[16];
  int stops = 0, is_ready = 0;
  while (1) {
    int status;
    pid_t changed = waitpid(process, &status, terminal >= 0 ? WNOHANG : 0);
    if (changed == 0) {
      answer(terminal, typed);
      continue;
    }
    if (changed < 0) fail("waitpid");
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      fprintf(report, WIFEXITED(status) ? "exit %d\n" : "signal %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
      return 0;
    }
    int signal = WSTOPSIG(status), event = status >> 16;
    if (!is_ready) {
      long wanted = PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL;
      if (ptrace(PTRACE_SETOPTIONS, process, 0, wanted)) fail("ptrace");
      is_ready = 1;
      signal = 0;
    } else if (event == PTRACE_EVENT_EXEC) {
      open_process(process);
      signal = 0;
    } else if (event == PTRACE_EVENT_EXIT) {
      for (int index = 0; index < options->made_count; index++) {
        char *name = strdup(options->made[index]), *split = strchr(name, '=');
        *split = 0;
        add_needle_line(name, split + 1);
      }
      prepare_scan();
      scan_process("exit");
      signal = 0;
    } else if (signal == SIGSTOP) {
      snprintf(phase, sizeof phase, "%d", ++stops);
      scan_process(phase);
      signal = 0;
    }
    ptrace(PTRACE_CONT, process, 0, (long)signal);
  }
}

static int run(int count, char **arguments) {
  struct options options = {0};
  int option;
  report = stdout;
  while ((option = getopt(count, arguments, "+n:o:r:d:t:f")) != -1) {
    switch (option) {
    case 'n': options.needles = optarg; break;
    case 'o': options.made[options.made_count++] = optarg; break;
    case 'r': report = fopen(optarg, "we"); break;
    case 'd': options.descriptors[options.descriptor_count++] = optarg; break;
    case 't': options.typed = optarg; break;
    case 'f': options.is_fallback = 1; break;
    default: return 64;
    }
  }
  if (!report || !options.needles || optind == count) return 64;
  add_needles_of(options.needles);
  prepare_scan();
  int terminal = -1;
  pid_t process = options.typed ? forkpty(&terminal, NULL, NULL, NULL) : fork();
  if (process < 0) fail("fork");
  if (process == 0) become(&options, arguments + optind);
  return trace(process, &options, terminal);
}

static int scan_files(int count, char **paths) {
  report = stdout;
  add_needles_of(paths[0]);
  prepare_scan();
  for (int index = 1; index < count; index++) {
    struct hits hits = {0};
    int file = open(paths[index], O_RDONLY | O_CLOEXEC);
    if (file < 0) fail(paths[index]);
    size_t read = scan_range(file, 0, lseek(file, 0, SEEK_END), &hits);
    report_hits("file", "other", paths[index], &hits);
    printf("scan file %zu 0\n", read);
    close(file);
  }
  return 0;
}

static int scan_running(const char *needles, const char *process) {
  report = stdout;
  add_needles_of(needles);
  prepare_scan();
  open_process(atoi(process));
  scan_process("now");
  return 0;
}

int main(int count, char **arguments) {
  if (count > 2 && strcmp(arguments[1], "run") == 0) return run(count - 1, arguments + 1);
  if (count == 4 && strcmp(arguments[1], "process") == 0) return scan_running(arguments[2], arguments[3]);
  if (count > 3 && strcmp(arguments[1], "file") == 0) return scan_files(count - 2, arguments + 2);
  return 64;
}
