#include "weft/runtime/processes/Liveness.h"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::runtime {

/// Reads the state (field 3) and start (field 22) of a process; false if there
/// is none.
static bool readState(int64_t process, char &state, uint64_t &started) {
  char path[64], text[1024];
  std::snprintf(path, sizeof path, "/proc/%lld/stat",
                static_cast<long long>(process));
  std::FILE *file = std::fopen(path, "r");
  if (!file)
    return false;
  size_t length = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[length] = 0;
  const char *field = std::strrchr(text, ')'); // the name may have spaces
  if (!field || !field[1])
    return false;
  state = field[2];
  field += 2;
  for (int i = 3; i < 22; ++i) {
    field = std::strchr(field, ' ');
    if (!field)
      return false;
    ++field;
  }
  return std::from_chars(field, text + length, started).ec == std::errc();
}

Identity Identity::own() {
  Identity me;
  me.process = getpid();
  gethostname(me.host, sizeof me.host - 1);
  struct stat names;
  if (stat("/proc/self/ns/pid", &names) == 0)
    me.numbering = names.st_ino;
  char state;
  if (!readState(me.process, state, me.started))
    me.started = 0;
  return me;
}

std::string Identity::describe(int rank) const {
  return "rank " + std::to_string(rank) + " (process " +
         std::to_string(process) + " on " + host + ")";
}

bool isGone(const Identity &peer, const Identity &own) {
  bool canSee = own.started && peer.started &&
                peer.numbering == own.numbering &&
                std::strncmp(peer.host, own.host, sizeof own.host) == 0;
  if (!canSee)
    return false;
  char state = 0;
  uint64_t started = 0;
  if (!readState(peer.process, state, started))
    return access("/proc/self/stat", R_OK) == 0;
  return state == 'Z' || state == 'X' || started != peer.started;
}

} // namespace weft::runtime
