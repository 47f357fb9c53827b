//===- StageSection.cpp - the stages of a pipeline over time --------------===//
//
// A lane for each stage, from left to right in units of a pass:
//
//   stage 0   [F0][F1][F2]......[B0    ][B1    ][B2    ]   33.3 % idle
//   stage 1   ....[F0][F1][F2][B0    ][B1    ][B2    ]..   33.3 % idle
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/report/Html.h"
#include "weft/compiler/report/Sections.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace weft;
using namespace weft::html;
using pipeline::Work;
using pipeline::WorkKind;

/// Items that are drawn; of longer schedules it is the begin.
static constexpr size_t kMostItems = 3000;

/// The colour of a kind of pass, and its name.
static std::pair<llvm::StringRef, llvm::StringRef> lookOf(WorkKind kind) {
  switch (kind) {
  case WorkKind::Forward:
    return {"k1", "forward pass"};
  case WorkKind::InputGradient:
    return {"k2", "gradient of inputs"};
  case WorkKind::WeightGradient:
    return {"k3", "gradient of weights"};
  case WorkKind::Backward:
    return {"k4", "backward pass"};
  }
  return {};
}

static void writeItem(const Work &work, int64_t begin, double unit, double y,
                      llvm::raw_ostream &out) {
  auto [look, name] = lookOf(work.kind);
  double x = kLanesLeft + double(begin) * unit;
  double width = double(pipeline::WorkTimes().of(work.kind)) * unit;
  out << "<rect class=\"" << look << "\" fill-opacity=\".55\" x=\"" << px(x)
      << "\" y=\"" << px(y) << "\" width=\"" << px(std::max(width - 0.5, 0.5))
      << "\" height=\"18\"><title>" << name << " of microbatch "
      << work.microbatch;
  if (work.chunk > 0)
    out << ", chunk " << work.chunk;
  out << "</title></rect>";
  std::string number = std::to_string(work.microbatch);
  if (width > 7.5 * double(number.size()))
    out << "<text class=\"sub\" x=\"" << px(x + 2) << "\" y=\"" << px(y + 13)
        << "\">" << number << "</text>";
}

void html::writeStages(const Report &report, llvm::raw_ostream &out) {
  if (!report.stages)
    return;
  const auto &[schedule, replay] = *report.stages;
  size_t count = 0;
  for (const std::vector<Work> &list : schedule.stages)
    count += list.size();
  double part =
      std::min(1.0, double(kMostItems) / double(std::max<size_t>(count, 1)));
  auto end = std::max<int64_t>(int64_t(double(replay.end) * part), 1);
  double unit = (kLanesRight - kLanesLeft) / double(end);
  out << "<section id=\"stages\"><h2>The stages over time</h2><p "
         "class=\"lead\">What each stage computes, with the numbers of "
         "microbatches; a forward pass, the gradient of inputs and the "
         "gradient "
         "of weights take one unit of time each.";
  if (part < 1)
    out << " The first " << end << " of " << replay.end << " units are drawn.";
  double height = kLaneHeight * double(schedule.stages.size()) + 4;
  out << "</p><div class=\"wide\"><svg class=\"step\" viewBox=\"0 0 1040 "
      << px(height) << "\" role=\"img\" aria-label=\"stages over time\">";
  for (auto [stage, list] : llvm::enumerate(schedule.stages)) {
    double y = 4 + kLaneHeight * double(stage);
    out << "<text class=\"name\" x=\"0\" y=\"" << px(y + 9) << "\">stage "
        << stage << "</text><text class=\"sub\" x=\"0\" y=\"" << px(y + 22)
        << "\">"
        << llvm::formatv("{0:f1} % idle", 100.0 * double(replay.idle[stage]) /
                                              double(replay.end))
        << "</text><path class=\"rule\" d=\"M" << px(kLanesLeft) << " "
        << px(y + 18.5) << "H" << px(kLanesRight) << "\"/>";
    for (auto [work, begin] : llvm::zip_equal(list, replay.starts[stage]))
      if (begin < end)
        writeItem(work, begin, unit, y, out);
  }
  out << "</svg></div><ul class=\"legend\">";
  for (WorkKind kind : {WorkKind::Forward, WorkKind::InputGradient,
                        WorkKind::WeightGradient, WorkKind::Backward})
    if (llvm::any_of(schedule.stages, [&](const std::vector<Work> &list) {
          return llvm::any_of(
              list, [&](const Work &work) { return work.kind == kind; });
        })) {
      auto [look, name] = lookOf(kind);
      out << "<li><i class=\"" << look << "\" style=\"opacity:.55\"></i>"
          << name << "</li>";
    }
  out << "</ul></section>";
}
