// Runs a kernel of a PTX file on files, without a GPU:
//
//   ptx-run [--seed N] [--repeat N] FILE.ptx KERNEL BLOCKS THREADS BUFFER...
//
// Each BUFFER is a file; the kernel gets a pointer to its bytes, which are then
// written back to the file. The same file twice is the same memory. Findings of
// the machine go to stderr, and the exit status is 1. --repeat runs the kernel
// several times and prints its speed.

#include "weft/test/cuda/machine/Launch.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

using namespace weft::ptx;

namespace {
struct Request {
  uint64_t seed = 0, repeat = 0;
  std::string text, kernel;
  uint32_t blocks = 1, threads = 1;
  std::vector<std::string> files;
};
} // namespace

static bool readFile(const std::string &name, std::string &bytes) {
  std::ifstream file(name, std::ios::binary);
  bytes.assign(std::istreambuf_iterator<char>(file), {});
  if (!file)
    std::cerr << "ptx-run: cannot read " << name << "\n";
  return bool(file);
}

static bool parse(std::vector<std::string> words, Request &request) {
  while (words.size() > 1 && words[0].starts_with("--")) {
    uint64_t value = std::strtoull(words[1].c_str(), nullptr, 10);
    if (words[0] != "--seed" && words[0] != "--repeat")
      return false;
    (words[0] == "--seed" ? request.seed : request.repeat) = value;
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.size() < 4 || !readFile(words[0], request.text))
    return false;
  request.kernel = words[1];
  request.blocks = uint32_t(std::strtoul(words[2].c_str(), nullptr, 10));
  request.threads = uint32_t(std::strtoul(words[3].c_str(), nullptr, 10));
  request.files.assign(words.begin() + 4, words.end());
  return true;
}

namespace {
class Runner {
public:
  explicit Runner(const Request &request [[clang::lifetimebound]])
      : request(request) {}

  int run() {
    std::string error = parseModule(request.text, module);
    launch.kernel = module.find(request.kernel);
    if (error.empty() && !launch.kernel)
      error = "no kernel is called '" + request.kernel + "'";
    if (!error.empty()) {
      std::cerr << "ptx-run: " << error << "\n";
      return 1;
    }
    launch.module = &module;
    launch.grid.x = request.blocks;
    launch.block.x = request.threads;
    launch.seed = request.seed;
    for (const Data &data : module.data)
      launch.dataAddresses.push_back(
          place(data.name, {data.initial.begin(), data.initial.end()}));
    for (const std::string &file : request.files)
      if (!addParameter(file))
        return 1;
    return execute();
  }

private:
  uint64_t place(const std::string &name, std::string bytes) {
    std::string &kept = buffers[name] = std::move(bytes);
    memory.add({name,
                next,
                kept.size(),
                reinterpret_cast<uint8_t *>(kept.data()),
                false,
                {},
                {}});
    uint64_t address = next;
    next += (kept.size() + 0x1FFF) / 0x1000 * 0x1000;
    return addresses[name] = address;
  }

  bool addParameter(const std::string &file) {
    if (!addresses.contains(file)) {
      std::string bytes;
      if (!readFile(file, bytes))
        return false;
      place(file, std::move(bytes));
    }
    uint64_t address = addresses[file];
    auto first = reinterpret_cast<const uint8_t *>(&address);
    launch.parameters.insert(launch.parameters.end(), first,
                             first + sizeof address);
    return true;
  }

  int execute() {
    Findings findings;
    auto start = std::chrono::steady_clock::now();
    uint64_t instructions = 0;
    for (uint64_t i = 0; i < std::max<uint64_t>(1, request.repeat); ++i)
      instructions += weft::ptx::run(launch, memory, findings).instructions;
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - start;
    if (request.repeat)
      std::printf(
          "%llu instructions of warps in %.3f s: %.2f G lane-instructions/s\n",
          static_cast<unsigned long long>(instructions), time.count(),
          double(instructions) * kLanes / time.count() / 1e9);
    for (const std::string &file : request.files)
      std::ofstream(file, std::ios::binary) << buffers[file];
    for (const std::string &text : findings.texts)
      std::cerr << "ptx-run: " << text << "\n";
    return findings.texts.empty() ? 0 : 1;
  }

  const Request &request;
  Module module;
  Memory memory;
  Launch launch;
  std::map<std::string, std::string> buffers;
  std::map<std::string, uint64_t> addresses;
  uint64_t next = 0x700000000000;
};
} // namespace

int main(int argc, char **argv) {
  Request request;
  if (!parse({argv + 1, argv + argc}, request)) {
    std::cerr
        << "usage: ptx-run [--seed N] [--repeat N] FILE.ptx KERNEL BLOCKS "
           "THREADS BUFFER...\n";
    return 2;
  }
  return Runner(request).run();
}
