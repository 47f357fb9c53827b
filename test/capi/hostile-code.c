/* A program's code that acts when it is loaded. */
#include <unistd.h>

__attribute__((constructor)) static void act(void) {
  static const char text[] = "code of the program has run\n";
  if (write(1, text, sizeof text - 1) < 0)
    _exit(67);
  _exit(66);
}
