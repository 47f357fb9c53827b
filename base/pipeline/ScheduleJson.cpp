//===- ScheduleJson.cpp - schedules in files ------------------------------===//

#include "weft/base/pipeline/ScheduleJson.h"

#include "weft/base/config/Json.h"
#include "weft/base/pipeline/ScheduleChecks.h"

#include <limits>

using namespace weft;
using namespace weft::pipeline;
using keras::Json;

/// Reads a whole number of at least 1.
static int sizeOf(keras::Fields &fields, const char *key, int64_t otherwise) {
  int64_t value = fields.integer(key, otherwise);
  if (!fields.failed() &&
      (value < 1 || value > std::numeric_limits<int>::max()))
    fields.refuse(keras::inQuotes(key) + " is " + std::to_string(value) +
                  "; write a number from 1 to " + std::to_string(kMostItems));
  return int(value);
}

static Result<std::vector<Work>> readList(const Json &list, size_t stage) {
  std::string where = "stage " + std::to_string(stage);
  if (!list.is_array())
    return Error{where + ": expected a list of items, found " +
                 keras::shortText(list) + R"(; write it as ["F0", "B0"])"};
  std::vector<Work> items;
  for (const Json &each : list) {
    std::optional<Work> work;
    if (each.is_string())
      work = workOf(each.get_ref<const std::string &>());
    if (!work)
      return Error{where + ", item " + std::to_string(items.size()) + ": " +
                   keras::shortText(each) +
                   " is no item of a schedule; write F, B, I or W, the number "
                   "of a microbatch, and perhaps a chunk: F3 or F3.1"};
    items.push_back(*work);
  }
  return items;
}

Result<Schedule> weft::pipeline::readSchedule(std::string_view text) {
  Result<Json> json = keras::parseJson(text);
  if (!json)
    return json.error();
  Status status;
  Schedule schedule;
  keras::Fields fields(*json, "", status);
  schedule.microbatches = sizeOf(fields, "microbatches", 0);
  schedule.chunks = sizeOf(fields, "chunks", 1);
  const Json *stages = fields.find("stages");
  fields.finish();
  if (!status)
    return keras::oneError(status.error(), "schedule",
                           "write it as in the documentation");
  if (!stages || !stages->is_array())
    return Error{"\"stages\" must be a list of lists of items, not " +
                 (stages ? keras::shortText(*stages) : "absent") +
                 R"(; write it as [["F0", "B0"]])"};
  size_t count = 0;
  for (const Json &list : *stages) {
    auto items = readList(list, schedule.stages.size());
    if (!items)
      return items.error();
    count += items->size();
    schedule.stages.push_back(std::move(*items));
  }
  if (count > size_t(kMostItems))
    return Error{"has " + std::to_string(count) +
                 " items, more than the limit of " +
                 std::to_string(kMostItems) + "; use fewer microbatches"};
  if (Status valid = check(schedule); !valid)
    return valid.error();
  return schedule;
}

std::string weft::pipeline::writeSchedule(const Schedule &schedule) {
  std::string text =
      "{\"microbatches\": " + std::to_string(schedule.microbatches) +
      ",\n \"chunks\": " + std::to_string(schedule.chunks) +
      ",\n \"stages\": [";
  const char *before = "";
  for (const std::vector<Work> &list : schedule.stages) {
    text += std::string(before) + "[";
    const char *comma = "";
    for (const Work &work : list) {
      text += std::string(comma) + '"' + textOf(work) + '"';
      comma = ", ";
    }
    text += "]";
    before = ",\n   ";
  }
  return text + "]}\n";
}
