//===- TimeLine.cpp - what stages compute over time, as text --------------===//

#include "weft/base/pipeline/TimeLine.h"

#include <algorithm>

using namespace weft;
using namespace weft::pipeline;

namespace {
/// The units of time from `begin` to `end`, as text.
class Window {
public:
  Window(int64_t begin, int64_t end, size_t cell)
      : begin(begin), end(end), cell(cell) {}

  std::string textOf(const std::vector<Work> &list,
                     const std::vector<int64_t> &starts,
                     const WorkTimes &times) const {
    std::string text;
    for (int64_t unit = begin; unit < end; ++unit)
      text += "." + std::string(cell - 1, ' ');
    for (size_t i = 0; i < list.size(); ++i)
      write(list[i], starts[i], starts[i] + times.of(list[i].kind), text);
    return text;
  }

private:
  void write(const Work &work, int64_t from, int64_t to,
             std::string &text) const {
    int64_t first = std::max(from, begin), last = std::min(to, end);
    if (first >= last)
      return;
    std::string its(size_t(last - first) * cell - 1, to - from > 1 ? '-' : ' ');
    std::string name = pipeline::textOf(work);
    if (first == from)
      its.replace(0, std::min(name.size(), its.size()), name);
    text.replace(size_t(first - begin) * cell, its.size(), its);
  }

  int64_t begin, end;
  size_t cell; ///< characters of a unit
};
} // namespace

std::vector<std::string> weft::pipeline::timeLine(const Schedule &schedule,
                                                  const Replay &replay,
                                                  size_t width,
                                                  const WorkTimes &times) {
  size_t cell = 2;
  for (const std::vector<Work> &list : schedule.stages)
    for (const Work &work : list)
      cell = std::max(cell, textOf(work).size() + 1);
  auto units = int64_t(width / cell);
  bool isWhole = replay.end <= units;
  std::vector<std::string> lines;
  for (size_t stage = 0; stage < schedule.stages.size(); ++stage) {
    auto text = [&](int64_t begin, int64_t end) {
      std::string made =
          Window(begin, end, cell)
              .textOf(schedule.stages[stage], replay.starts[stage], times);
      made.resize(made.find_last_not_of(' ') + 1);
      return made;
    };
    int64_t part = std::max<int64_t>(units / 2, 1);
    if (isWhole) {
      lines.push_back(text(0, replay.end));
      continue;
    }
    std::string head = text(0, part);
    head.resize(size_t(part) * cell, ' ');
    lines.push_back(head + "... " + text(replay.end - part, replay.end));
  }
  return lines;
}
