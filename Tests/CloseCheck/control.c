// Closes a descriptor twice: itself, and in a program that it starts without an environment. Linked with -rdynamic.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

// By which the library knows a Swift program.
void swift_retain(void) {}

int main(int count, char *words[]) {
  int number = open("/dev/null", O_RDONLY);
  if (close(number) != 0) return 1;
  if (count > 1) {
    char *child[] = {words[0], 0}, *none[] = {0};
    pid_t process;
    int status;
    if (posix_spawn(&process, words[0], 0, 0, child, none) != 0 || waitpid(process, &status, 0) != process || status != 0) return 1;
  }
  return close(number) == 0;
}
