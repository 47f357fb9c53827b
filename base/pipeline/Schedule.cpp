//===- Schedule.cpp - what the stages of a pipeline compute ---------------===//

#include "weft/base/pipeline/Schedule.h"

#include <algorithm>
#include <charconv>

using namespace weft;
using namespace weft::pipeline;

static constexpr std::string_view kLetters = "FIWB";

std::string weft::pipeline::textOf(const Work &work) {
  std::string text(1, kLetters[size_t(work.kind)]);
  text += std::to_string(work.microbatch);
  if (work.chunk)
    text += "." + std::to_string(work.chunk);
  return text;
}

/// Reads a number without sign and leading zeros, and removes it from the text.
static std::optional<int> numberIn(std::string_view &text) {
  int number = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  size_t length = size_t(end - text.data());
  if (error != std::errc() || text[0] == '-' || (length > 1 && text[0] == '0'))
    return std::nullopt;
  text.remove_prefix(length);
  return number;
}

std::optional<Work> weft::pipeline::workOf(std::string_view text) {
  size_t letter = text.empty() ? kLetters.npos : kLetters.find(text[0]);
  if (letter == kLetters.npos)
    return std::nullopt;
  text.remove_prefix(1);
  std::optional<int> microbatch = numberIn(text);
  if (!microbatch)
    return std::nullopt;
  Work work{WorkKind(letter), *microbatch, 0};
  if (text.empty())
    return work;
  if (text[0] != '.')
    return std::nullopt;
  text.remove_prefix(1);
  std::optional<int> chunk = numberIn(text);
  if (!chunk || !text.empty())
    return std::nullopt;
  work.chunk = *chunk;
  return work;
}

std::string weft::pipeline::textOf(const std::vector<Work> &list) {
  std::string text;
  for (const Work &work : list)
    text += (text.empty() ? "" : " ") + textOf(work);
  return text;
}

Result<Schedule>
weft::pipeline::scheduleOf(const std::vector<std::string> &lists) {
  Schedule schedule;
  for (const std::string &list : lists) {
    std::vector<Work> &items = schedule.stages.emplace_back();
    for (size_t begin = 0; begin < list.size();) {
      size_t end = std::min(list.find(' ', begin), list.size());
      std::string text = list.substr(begin, end - begin);
      std::optional<Work> work = workOf(text);
      if (!work || work->microbatch >= kMostItems || work->chunk >= kMostItems)
        return Error{"stage " + std::to_string(schedule.stages.size() - 1) +
                     ", item " + std::to_string(items.size()) + ": \"" + text +
                     "\" is no item of a schedule; write items as F0 B0"};
      items.push_back(*work);
      schedule.microbatches =
          std::max(schedule.microbatches, work->microbatch + 1);
      schedule.chunks = std::max(schedule.chunks, work->chunk + 1);
      begin = end + 1;
    }
  }
  return schedule;
}

std::string weft::pipeline::placeOf(const Schedule &schedule, int stage,
                                    int item) {
  return "stage " + std::to_string(stage) + ", item " + std::to_string(item) +
         " (" + textOf(schedule.stages[size_t(stage)][size_t(item)]) + ")";
}
