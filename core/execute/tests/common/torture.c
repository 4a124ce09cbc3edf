// Programs that misbehave, one per first argument. Only ever to be run inside a sandbox with limits.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// 60 of these below each other make a path longer than any system call takes.
#define DEEP "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"

static void spin(void) { for (volatile unsigned long i = 0;; i++) {} }
static void forever(void) { for (;;) pause(); }
static int is(const char *a, const char *b) { return strcmp(a, b) == 0; }

static double cpu_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static void burn(double seconds) {
  double end = cpu_now() + seconds;
  while (cpu_now() < end)
    for (volatile int i = 0; i < 10000; i++) {}
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  long number = argc > 2 ? atol(argv[2]) : 0;

  if (is(what, "fork-bomb")) {
    // At most `number` processes ever, if given: for where nothing bounds them at once.
    volatile long *count = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (;;) {
      if (number && __sync_fetch_and_add(count, 1) >= number) spin();
      if (fork() < 0) { if (number) spin(); }
    }
  }
  if (is(what, "daemon")) {
    if (fork() == 0) {
      setsid();
      if (fork() == 0) { signal(SIGHUP, SIG_IGN); spin(); }
      _exit(0);
    }
    wait(0);
    puts("sat");
    return 0;
  }
  if (is(what, "setsid")) {
    for (int i = 0; i < 3; i++)
      if (fork() == 0) { setsid(); setpgid(0, 0); if (fork() == 0) setsid(); spin(); }
    forever();
  }
  if (is(what, "stubborn")) {
    for (int i = 1; i < 64; i++) signal(i, SIG_IGN);
    spin();
  }
  if (is(what, "allocate")) {
    // 100 GB in pieces; what cannot be had is tried again, so it does not end by itself.
    for (long left = 1600; left > 0;) {
      char *p = malloc(64 << 20);
      if (!p) { usleep(1000); continue; }
      memset(p, 1, 64 << 20);
      left--;
    }
    return 0;
  }
  if (is(what, "map")) {
    size_t size = 100UL << 30;
    char *p = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) { size = 200UL << 20; p = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0); }
    if (p == MAP_FAILED) return 1;
    for (size_t i = 0; i < size; i += 4096) p[i] = 1;
    forever();
  }
  if (is(what, "memory-tree")) {
    // Four processes of a quarter each, at the same time: each waits until all have theirs.
    int ready[2], go[2];
    char byte = 0;
    if (pipe(ready) || pipe(go)) return 1;
    for (int i = 0; i < 4; i++)
      if (fork() == 0) {
        size_t size = (size_t)number << 18;
        char *p = malloc(size);
        memset(p, 1, size);
        close(go[1]);
        write(ready[1], &byte, 1);
        read(go[0], &byte, 1);
        _exit(0);
      }
    for (int i = 0; i < 4; i++) read(ready[0], &byte, 1);
    close(go[1]);
    while (wait(0) > 0) {}
    return 0;
  }
  if (is(what, "touch")) {
    size_t size = (size_t)number << 20;
    char *p = malloc(size);
    memset(p, 1, size);
    printf("%d\n", p[size / 2]);
    return 0;
  }
  if (is(what, "flood")) {
    static char block[1 << 20];
    memset(block, 'x', sizeof block);
    for (int fd = 1;; fd = number ? 3 - fd : 1)
      if (write(fd, block, sizeof block) < 0 && errno != EPIPE) return 1;
  }
  if (is(what, "no-newline")) { fputs("unsat", stdout); return 0; }
  if (is(what, "closed")) { close(0); close(1); close(2); forever(); }
  if (is(what, "closed-quick")) { close(1); close(2); return 7; }
  if (is(what, "stderr")) { fputs("sat\n", stderr); return 0; }
  if (is(what, "zombies")) {
    for (int i = 0; i < 40; i++) if (fork() == 0) _exit(0);
    puts("made");
    fflush(stdout);
    forever();
  }
  if (is(what, "disk")) {
    static char block[1 << 16];
    int fd = open("filler", O_CREAT | O_WRONLY, 0600);
    while (write(fd, block, sizeof block) > 0) {}
    forever();
  }
  if (is(what, "one-file")) {
    static char block[1 << 16];
    int fd = open("filler", O_CREAT | O_WRONLY, 0600);
    for (;;) if (write(fd, block, sizeof block) < 0) return 1;
  }
  if (is(what, "many-files")) {
    char name[64];
    for (long i = 0;; i++) {
      sprintf(name, "f%ld", i);
      int fd = open(name, O_CREAT | O_WRONLY, 0);
      if (fd < 0) forever();
      close(fd);
    }
  }
  if (is(what, "hostile-tree")) {
    for (int i = 0; i < 60; i++) {
      if (mkdir(DEEP, 0700) || chdir(DEEP)) return 1;
      close(open("closed", O_CREAT | O_WRONLY, 0));
      mkdir("shut", 0);
    }
    for (int i = 0; i < 60; i++) { if (chdir("..")) return 1; }
    if (chmod(DEEP, 0)) return 1;
    return 0;
  }
  if (is(what, "connect")) {
    // argv[2]: a port of the loopback; argv[3]: the name of an abstract socket.
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(number)};
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int reached = fd >= 0 && connect(fd, (void *)&in, sizeof in) == 0;
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    strncpy(un.sun_path + 1, argv[3], sizeof un.sun_path - 2);
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    reached |= 2 * (connect(fd, (void *)&un, sizeof(sa_family_t) + 1 + strlen(argv[3])) == 0);
    // A program may not bring an interface up or make a namespace of its own either.
    reached |= 4 * (unshare(CLONE_NEWNET) == 0) + 8 * (unshare(CLONE_NEWUSER) == 0);
    printf("%d\n", reached);
    return 0;
  }
  if (is(what, "attack")) {
    // Signals and traces every process it can name. Does nothing outside a PID namespace of its own.
    if (getpid() > 100) { puts("not isolated"); return 99; }
    int hit = 0;
    for (int pid = 1; pid < 40000; pid++) {
      if (pid == getpid()) continue;
      if (ptrace(PTRACE_ATTACH, pid, 0, 0) == 0) { hit++; printf("traced %d\n", pid); }
      if (kill(pid, SIGKILL) == 0 && pid != 1) { hit++; printf("killed %d\n", pid); }
    }
    kill(getppid(), SIGSTOP);
    printf("%d\n", hit);
    return 0;
  }
  if (is(what, "stopped")) {
    for (int i = 0; i < 3; i++) if (fork() == 0) { raise(SIGSTOP); spin(); }
    sleep(1);
    printf("done\n");
    fflush(stdout);
    raise(SIGSTOP);
    forever();
  }
  if (is(what, "binary")) {
    for (int i = 0; i < 256 * 1000; i++) putchar(i & 255);
    return 0;
  }
  if (is(what, "long-line")) {
    for (int i = 0; i < 1 << 20; i++) putchar('a');
    putchar('\n');
    return 0;
  }
  if (is(what, "keys")) {
    // The kernel's key rings outlive a run.
    long key = syscall(SYS_add_key, "user", "agon-test", "x", 1L, -4L);
    printf("%d\n", key >= 0);
    return 0;
  }
  if (is(what, "burn")) { burn(number / 1000.0); return 0; }
  if (is(what, "burn-system")) {
    double end = cpu_now() + number / 1000.0;
    while (cpu_now() < end) for (int i = 0; i < 1000; i++) syscall(SYS_getppid);
    return 0;
  }
  if (is(what, "burn-tree")) {
    // A child, a grandchild that is waited for, one that is not, and one whose parent has gone.
    if (fork() == 0) {
      if (fork() == 0) { burn(number / 1000.0); _exit(0); }
      wait(0);
      burn(number / 1000.0);
      _exit(0);
    }
    wait(0);
    signal(SIGCHLD, SIG_IGN);
    if (fork() == 0) { burn(number / 1000.0); _exit(0); }
    // Comes back when there is no child any more, though none can be waited for.
    wait(0);
    return 0;
  }
  fprintf(stderr, "no such torture: %s\n", what);
  return 64;
}
