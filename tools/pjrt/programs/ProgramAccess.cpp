//===- ProgramAccess.cpp - programs as the plugin's Python finds them -----===//

#include "weft/tools/pjrt/programs/ProgramAccess.h"

#include <cstring>

using namespace weft::pjrt;

namespace {

/// Executables by fingerprint; entries of destroyed ones expire.
struct Registry {
  std::mutex mutex;
  std::multimap<std::string, std::weak_ptr<const Executable>> byFingerprint;
};

Registry &registry() {
  static auto *all = new Registry; // JAX's threads outlive static objects
  return *all;
}

std::shared_ptr<const Executable> find(const char *fingerprint) {
  Registry &all = registry();
  std::lock_guard<std::mutex> guard(all.mutex);
  auto [begin, end] = all.byFingerprint.equal_range(fingerprint);
  for (auto it = begin; it != end; ++it)
    if (std::shared_ptr<const Executable> executable = it->second.lock())
      return executable;
  return nullptr;
}

/// A copy that weft_pjrt_free frees.
char *give(const std::string &text, size_t &size) {
  size = text.size();
  auto *copy = static_cast<char *>(std::malloc(size + 1));
  if (copy)
    std::memcpy(copy, text.c_str(), size + 1);
  return copy;
}

} // namespace

void weft::pjrt::rememberExecutable(
    const std::shared_ptr<const Executable> &executable) {
  Registry &all = registry();
  std::lock_guard<std::mutex> guard(all.mutex);
  const std::string &key = executable->loaded->fingerprint;
  auto [begin, end] = all.byFingerprint.equal_range(key);
  for (auto it = begin; it != end;)
    it = it->second.expired() ? all.byFingerprint.erase(it) : std::next(it);
  all.byFingerprint.emplace(key, executable);
}

extern "C" {

/// Returns the program of the executable with that fingerprint in XLA's syntax,
/// or an error, which sets `failed`; null if there is no such executable.
__attribute__((visibility("default"))) char *
weft_pjrt_hlo_text(const char *fingerprint, size_t *size, int *failed) {
  auto executable = find(fingerprint);
  if (!executable)
    return nullptr;
  ProgramSource source(executable->client->topology.compiler,
                       executable->loaded->source,
                       static_cast<int64_t>(executable->devices.size()));
  std::string text = source.hloText();
  *failed = !source.error().empty();
  return give(*failed ? source.error() : text, *size);
}

__attribute__((visibility("default"))) void weft_pjrt_free(char *text) {
  std::free(text);
}
}
