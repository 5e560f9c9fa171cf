/* Preloaded into a service: every sync takes 5 ms longer, as on a slow disk. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

static int after_pause(const char *name, int descriptor) {
  usleep(5000);
  int (*sync)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  return sync(descriptor);
}

int fsync(int descriptor) { return after_pause("fsync", descriptor); }
int fdatasync(int descriptor) { return after_pause("fdatasync", descriptor); }
