// Swift Testing waits for its exit tests by waitid(P_ALL, WNOWAIT) in a loop. The kernel answers with the first child that has ended.
// If that child belongs to another waiter, which has not reaped it yet, the answer stays the same: the loop takes a whole processor, and
// no exit test ends. Here the loop gets each child that has ended in turn, and a pause after each round.
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static int wait_for(idtype_t type, id_t identifier, siginfo_t *information, int options) {
  return (int)syscall(SYS_waitid, type, identifier, information, options, NULL);
}

// The lowest identifier above `floor` of a child that has ended, or 0.
static pid_t ended_child(pid_t floor) {
  pid_t lowest = 0;
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) return 0;
  for (struct dirent *task; (task = readdir(tasks));) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%.20s/children", task->d_name);
    FILE *children = fopen(path, "re");
    if (!children) continue;
    for (pid_t child; fscanf(children, "%d", &child) == 1;) {
      if (child <= floor || (lowest && child >= lowest)) continue;
      siginfo_t ended;
      memset(&ended, 0, sizeof ended);
      if (wait_for(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid) lowest = child;
    }
    fclose(children);
  }
  closedir(tasks);
  return lowest;
}

int waitid(idtype_t type, id_t identifier, siginfo_t *information, int options) {
  if (type != P_ALL || options != (WEXITED | WNOWAIT)) return wait_for(type, identifier, information, options);
  // One thread calls this.
  static pid_t last;
  while (1) {
    if (wait_for(P_ALL, 0, information, options) != 0) return -1;
    pid_t next = ended_child(last);
    if (!next) {
      // The end of a round, or no file system /proc.
      usleep(10000);
      last = 0;
      next = ended_child(0);
      if (!next) return 0;
    }
    // It may have been reaped meanwhile.
    memset(information, 0, sizeof *information);
    last = next;
    if (wait_for(P_PID, (id_t)next, information, WEXITED | WNOHANG | WNOWAIT) == 0 && information->si_pid) return 0;
  }
}
