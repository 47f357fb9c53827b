//===- ScheduleJson.h - schedules in files ----------------------*- C++ -*-===//
//
//   {"microbatches": 3,
//    "chunks": 1,
//    "stages": [["F0", "F1", "B0", "F2", "B1", "B2"],
//               ["F0", "B0", "F1", "B1", "F2", "B2"]]}
//
// Items are written as in Schedule.h; `chunks` may be left out if it is 1.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_PIPELINE_SCHEDULEJSON_H
#define WEFT_BASE_PIPELINE_SCHEDULEJSON_H

#include "weft/base/pipeline/Schedule.h"

namespace weft::pipeline {

/// Reads a text, and checks the schedule. Errors name the key or the item.
Result<Schedule> readSchedule(std::string_view text);
std::string writeSchedule(const Schedule &schedule);

} // namespace weft::pipeline

#endif // WEFT_BASE_PIPELINE_SCHEDULEJSON_H
