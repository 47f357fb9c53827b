#include "weft/runtime/processes/StartWatch.h"
#include "weft/base/EnvironmentNumber.h"
#include "weft/base/WriteAll.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace weft::runtime {

using namespace std::chrono_literals;

/// The longest wait for the next process to start, and for all of them.
constexpr std::chrono::seconds longestPause = 8s, longestStart = 120s;
/// The longest time between two counts of this thread. After a longer one the
/// thread was stopped, and may have missed a process.
constexpr std::chrono::seconds longestCountPause = 2s;

/// An abstract address on this machine, in no folder; it disappears with the
/// process.
static sockaddr_un addressOf(const std::string &mark, socklen_t &length) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  size_t bytes = std::min(mark.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, mark.data(), bytes);
  length = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + bytes);
  return address;
}

StartWatch::StartWatch(int messages)
    : messages(messages), rank(environmentNumber("OMPI_COMM_WORLD_RANK", 0)),
      size(environmentNumber("OMPI_COMM_WORLD_SIZE", 1)),
      sharesMachine(environmentNumber("OMPI_COMM_WORLD_LOCAL_SIZE", 0) ==
                    size) {
  const char *name = std::getenv("PMIX_NAMESPACE");
  job = name ? name : "";
  socklen_t length;
  sockaddr_un address = addressOf(markOf(rank), length);
  mark = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (mark < 0 ||
      bind(mark, reinterpret_cast<sockaddr *>(&address), length) != 0)
    sharesMachine = false; // the system has no such addresses
  watcher = std::thread([this] { watch(); });
}

void StartWatch::stop() {
  {
    std::lock_guard<std::mutex> guard(mutex);
    isOver = true;
  }
  change.notify_all();
  if (watcher.joinable())
    watcher.join();
  if (mark >= 0)
    close(mark);
  mark = -1;
}

std::string StartWatch::markOf(int other) const {
  return "weft-" + job + "-" + std::to_string(getuid()) + "-" +
         std::to_string(other);
}

bool StartWatch::isMarked(int other) const {
  socklen_t length;
  sockaddr_un address = addressOf(markOf(other), length);
  int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  bool isThere =
      connect(probe, reinterpret_cast<sockaddr *>(&address), length) == 0;
  close(probe);
  return isThere;
}

void StartWatch::watch() {
  auto begin = std::chrono::steady_clock::now(), progress = begin, last = begin;
  int most = 0;
  std::unique_lock<std::mutex> guard(mutex);
  while (!change.wait_for(guard, 200ms, [this] { return isOver; })) {
    auto now = std::chrono::steady_clock::now();
    int started = countMarks();
    // After all have started, MPI_Init may take longer. If this process was
    // stopped meanwhile, it could not count.
    if (started > most || most == size || now - last > longestCountPause)
      progress = now;
    most = std::max(most, started);
    last = now;
    bool isLate = sharesMachine && now - progress > longestPause;
    if (isLate || now - begin > longestStart)
      endProcess(std::chrono::round<std::chrono::seconds>(now - begin).count());
  }
}

int StartWatch::countMarks() const {
  int marks = 0;
  for (int other = 0; other < size; ++other)
    marks += other == rank || (sharesMachine && isMarked(other));
  return marks;
}

void StartWatch::endProcess(long seconds) {
  std::string missing;
  bool reports = true;
  for (int other = 0; sharesMachine && other < size; ++other) {
    if (other != rank && !isMarked(other))
      missing +=
          (missing.empty() ? "rank " : ", rank ") + std::to_string(other);
    else if (other < rank)
      reports = false;
  }
  if (missing.empty())
    missing = "one at least";
  std::string line =
      "weft: error: not all of " + std::to_string(size) +
      " processes have started weft within " + std::to_string(seconds) +
      " s, missing: " + missing +
      "; give all processes of mpirun the same command, and look "
      "for their own messages\n";
  if (reports)
    writeMessage(messages, line);
  std::this_thread::sleep_for(1s); // the others have time to see this process
  _exit(1);
}

} // namespace weft::runtime
