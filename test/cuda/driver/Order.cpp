//===- Order.cpp - the happens-before order of work -----------------------===//

#include "weft/test/cuda/driver/Order.h"

#include <algorithm>
#include <cstdio>

namespace weft::fake {

void Clock::join(const Clock &other) {
  counts.resize(std::max(counts.size(), other.counts.size()));
  for (size_t i = 0; i < other.counts.size(); ++i)
    counts[i] = std::max(counts[i], other.counts[i]);
}

void Clock::set(uint32_t stream, uint32_t count) {
  if (counts.size() <= stream)
    counts.resize(stream + 1);
  counts[stream] = count;
}

static std::string describe(bool isWrite, uint64_t address, uint64_t bytes) {
  char text[96];
  std::snprintf(text, sizeof text, "%s %llu bytes from 0x%llx",
                isWrite ? "writes" : "reads",
                static_cast<unsigned long long>(bytes),
                static_cast<unsigned long long>(address));
  return text;
}

std::string AccessLog::note(const Actor &actor, uint64_t base, uint64_t address,
                            uint64_t bytes, bool isWrite) {
  std::string found;
  std::vector<Record> &all = records[base];
  bool isKnown = false;
  for (Record &record : all) {
    bool isSame = record.address == address && record.bytes == bytes &&
                  record.isWrite == isWrite && record.stream == actor.stream;
    if (isSame) { // the later one of a stream stands for both
      record.count = actor.count;
      record.name = actor.name;
      isKnown = true;
    }
    bool overlaps = record.address < address + bytes &&
                    address < record.address + record.bytes;
    if (found.empty() && overlaps && (isWrite || record.isWrite) && !isSame &&
        record.stream != actor.stream &&
        !actor.clock.covers(record.stream, record.count))
      found = "nothing orders " + record.name + ", which " +
              describe(record.isWrite, record.address, record.bytes) +
              ", and " + actor.name + ", which " +
              describe(isWrite, address, bytes) +
              "; let one wait for an event of the other";
  }
  if (!isKnown)
    all.push_back(
        {address, bytes, isWrite, actor.stream, actor.count, actor.name});
  return found;
}

void AccessLog::dropBefore(const Clock &clock) {
  for (auto &[base, all] : records)
    std::erase_if(all, [&](const Record &record) {
      return clock.covers(record.stream, record.count);
    });
}

} // namespace weft::fake
