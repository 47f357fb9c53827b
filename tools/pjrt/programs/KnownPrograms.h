//===- KnownPrograms.h - programs that were compiled before -----*- C++ -*-===//
//
// JAX forgets a compiled program with the function it is of, and asks for the
// same again a line later. The programs asked for last stay loaded, found by
// the bytes they came as and, as these say where in a script they are from, by
// what they compute (Compiler.h).
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
  /// Null for an unknown key.
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
  Entries order; ///< the last one asked for first
  std::map<std::string_view, Entries::iterator> byKey; ///< views of `order`
};

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_PROGRAMS_KNOWNPROGRAMS_H
