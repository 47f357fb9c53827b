//===- weft-file-fuzz.cpp - wrong files, to every reader ------------------===//
//
//   weft-file-fuzz [--reader NAME] [--seed S] [--count N] [--fresh M]
//                  [--seconds T]
//
// Gives each reader N altered files, those of the seeds S to S+N-1, then M of
// a new seed, which is printed; no longer than T seconds each time. A reader
// may refuse or accept a file, but not crash, compute for 10 seconds or take
// more than 1 GiB of memory: then the seed is printed, and the exit status
// is 1.
// `--reader hdf5 --seed 17 --count 1` repeats one.
//
//===----------------------------------------------------------------------===//

#include "weft/data/files/Isolation.h"
#include "weft/test/fuzz/FileReaders.h"
#include "weft/test/fuzz/Mutation.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace weft::test;
using weft::limitComputing;

namespace {

struct Arguments {
  uint64_t seed = 1, count = 200, fresh = 0, seconds = 60;
  std::string reader;
};

/// The progress that the reading child reports to its parent.
struct Progress {
  uint64_t done, accepted;
};

bool parse(int argc, char **argv, Arguments &arguments) {
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string_view name = argv[i], value = argv[i + 1];
    uint64_t *number = name == "--seed"      ? &arguments.seed
                       : name == "--count"   ? &arguments.count
                       : name == "--fresh"   ? &arguments.fresh
                       : name == "--seconds" ? &arguments.seconds
                                             : nullptr;
    if (name == "--reader")
      arguments.reader = value;
    else if (!number ||
             std::from_chars(value.begin(), value.end(), *number).ptr !=
                 value.end())
      return false;
  }
  return argc % 2 == 1;
}

void limitMemory() {
#if !__has_feature(address_sanitizer)
  rlimit limit = {1 << 30, 1 << 30};
  setrlimit(RLIMIT_AS, &limit);
#endif
  rlimit noCore = {0, 0};
  setrlimit(RLIMIT_CORE, &noCore);
}

/// Reads the files of seeds [first, first + count); never returns.
[[noreturn]] void readAll(const FileReader &reader, uint64_t first,
                          uint64_t count, double seconds, Progress &progress) {
  limitMemory();
  auto start = std::chrono::steady_clock::now();
  for (; progress.done < count; ++progress.done) {
    std::chrono::duration<double> spent =
        std::chrono::steady_clock::now() - start;
    if (spent.count() > seconds)
      break;
    std::mt19937_64 random(first + progress.done);
    const std::string &sample =
        reader.samples[random() % reader.samples.size()];
    std::string bytes = mutate(sample, reader.isText, random);
    limitComputing(10);
    progress.accepted += reader.read(bytes);
    limitComputing(0);
  }
  _exit(0);
}

/// Returns the number of a reader's seeds whose file was neither accepted nor
/// refused.
uint64_t watch(const FileReader &reader, uint64_t first, uint64_t count,
               double seconds) {
  auto *progress = static_cast<Progress *>(
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  *progress = {};
  uint64_t failures = 0;
  while (progress->done < count) {
    pid_t child = fork();
    if (child == 0)
      readAll(reader, first, count, seconds, *progress);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
      break;
    ++failures;
    std::printf("FAILED: --reader %s --seed %llu --count 1: %s\n",
                reader.name.c_str(),
                static_cast<unsigned long long>(first) + progress->done,
                WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exited");
    ++progress->done;
  }
  std::printf("%s: seeds from %llu: %llu files, %llu accepted, %llu failed\n",
              reader.name.c_str(), static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(progress->done),
              static_cast<unsigned long long>(progress->accepted),
              static_cast<unsigned long long>(failures));
  std::fflush(stdout);
  munmap(progress, sizeof(Progress));
  return failures;
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::fprintf(stderr, "usage: weft-file-fuzz [--reader NAME] [--seed S] "
                         "[--count N] [--fresh M] [--seconds T]\n");
    return 2;
  }
  uint64_t failures = 0, readers = 0, fresh = std::random_device{}();
  for (const FileReader &reader : fileReaders()) {
    if (!arguments.reader.empty() && reader.name != arguments.reader)
      continue;
    ++readers;
    // Counts accepted samples: some models are of a kind that is not supported
    // yet.
    auto accepted = std::count_if(reader.samples.begin(), reader.samples.end(),
                                  reader.read);
    auto wanted = reader.isText ? 1 : std::ssize(reader.samples);
    if (accepted < wanted) {
      std::printf("FAILED: %s accepts %td of its %td samples\n",
                  reader.name.c_str(), accepted, std::ssize(reader.samples));
      ++failures;
    }
    std::fflush(stdout);
    failures += watch(reader, arguments.seed, arguments.count,
                      double(arguments.seconds));
    if (arguments.fresh)
      failures +=
          watch(reader, fresh, arguments.fresh, double(arguments.seconds));
  }
  if (!readers) {
    std::fprintf(stderr, "weft-file-fuzz: --reader %s is no reader; use one of",
                 arguments.reader.c_str());
    for (const FileReader &reader : fileReaders())
      std::fprintf(stderr, " %s", reader.name.c_str());
    std::fprintf(stderr, "\n");
  }
  return failures || !readers ? 1 : 0;
}
