//===- KnownPrograms.h - programs that were compiled before -----*- C++ -*-===//
//
// JAX frees a compiled program with its function, and may request the same
// again a line later. The most recently requested programs stay loaded, by
// their bytes and, as these contain places in the script, also by their
// computation (Compiler.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_PROGRAMS_KNOWNPROGRAMS_H
#define WEFT_TOOLS_PJRT_PROGRAMS_KNOWNPROGRAMS_H

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace weft::pjrt {

struct LoadedProgram;
using LoadedPtr = std::shared_ptr<const LoadedProgram>;

class KnownPrograms {
public:
  /// The program of a key, or null.
  LoadedPtr find(const std::string &key) {
    std::lock_guard<std::mutex> guard(mutex);
    auto found = byKey.find(key);
    if (found == byKey.end())
      return nullptr;
    order.splice(order.begin(), order, found->second);
    return found->second->second;
  }

  void keep(const std::string &key, LoadedPtr program) {
    std::lock_guard<std::mutex> guard(mutex);
    if (byKey.contains(key))
      return;
    order.emplace_front(key, std::move(program));
    byKey[order.front().first] = order.begin();
    if (order.size() <= kMost)
      return;
    byKey.erase(order.back().first);
    order.pop_back();
  }

private:
  static constexpr size_t kMost = 512;
  using Entries = std::list<std::pair<std::string, LoadedPtr>>;
  std::mutex mutex;
  Entries order; ///< the last requested one first
  std::map<std::string_view, Entries::iterator> byKey; ///< views of `order`
};

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_PROGRAMS_KNOWNPROGRAMS_H
