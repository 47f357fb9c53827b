//===- Settings.cpp - settings from the environment -----------------------===//

#include "weft/test/cuda/driver/Settings.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <vector>

namespace weft::fake {

/// Ends the process, as a wrong setting could make a test pass wrongly.
static void refuse(const char *name, const std::string &value,
                   const char *wanted) {
  std::fprintf(stderr, "fake-cuda: %s=%s is not %s\n", name, value.c_str(),
               wanted);
  std::exit(97);
}

static uint64_t numberOf(const char *name, const std::string &text) {
  char *end = nullptr;
  uint64_t value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || *end)
    refuse(name, text, "a number");
  return value;
}

static void readNumber(const char *name, auto &to) {
  if (const char *text = std::getenv(name))
    to = numberOf(name, text);
}

static std::vector<std::string> parts(const std::string &text, char separator) {
  std::vector<std::string> all;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    all.push_back(part);
  return all;
}

static void readFailures(const char *text, Settings &settings) {
  for (const std::string &failure : parts(text, ',')) {
    std::vector<std::string> words = parts(failure, ':');
    if (words.size() < 2 || words.size() > 3)
      refuse("FAKE_CUDA_FAIL", failure, "name:call[:result]");
    Settings::Failure &to = settings.failures[words[0]];
    to.call = numberOf("FAKE_CUDA_FAIL", words[1]);
    if (words.size() == 3)
      to.result = int(numberOf("FAKE_CUDA_FAIL", words[2]));
  }
}

Settings Settings::fromEnvironment() {
  Settings settings;
  readNumber("FAKE_CUDA_SEED", settings.seed);
  readNumber("FAKE_CUDA_GPUS", settings.gpus);
  readNumber("FAKE_CUDA_MEMORY", settings.memory);
  readNumber("FAKE_CUDA_VERSION", settings.version);
  uint64_t patience = 30;
  readNumber("FAKE_NCCL_PATIENCE", patience);
  settings.patience = std::chrono::seconds(patience);
  if (settings.gpus > 8)
    refuse("FAKE_CUDA_GPUS", std::to_string(settings.gpus), "0 to 8");
  if (const char *peers = std::getenv("FAKE_CUDA_PEERS")) {
    settings.hasPeers = std::string_view(peers) != "none";
    if (settings.hasPeers)
      settings.mostPeers = numberOf("FAKE_CUDA_PEERS", peers);
  }
  if (const char *chip = std::getenv("FAKE_CUDA_CHIP")) {
    int number = 0;
    if (std::sscanf(chip, "sm_%d", &number) != 1)
      refuse("FAKE_CUDA_CHIP", chip, "a chip such as sm_90");
    settings.major = number / 10;
    settings.minor = number % 10;
  }
  if (const char *unwritten = std::getenv("FAKE_CUDA_UNWRITTEN")) {
    if (std::string(unwritten) != "ignore")
      refuse("FAKE_CUDA_UNWRITTEN", unwritten, "'ignore'");
    settings.checksWritten = false;
  }
  if (const char *calls = std::getenv("FAKE_CUDA_CALLS"))
    settings.calls = calls;
  if (const char *missing = std::getenv("FAKE_CUDA_MISSING"))
    for (const std::string &name : parts(missing, ','))
      settings.missing.insert(name);
  if (const char *failures = std::getenv("FAKE_CUDA_FAIL"))
    readFailures(failures, settings);
  return settings;
}

} // namespace weft::fake
