//===- HtmlReport.h - a compilation as one HTML page ------------*- C++ -*-===//
//
//   Report report{"model.json", explanation, mesh, tensors, timeline, budgets};
//   write(toHtml(report));
//
// The page is self-contained: no network, no fonts, no external scripts; its
// few lines of script (tips, sorting, blocks of a device) are not needed to
// read it. The same report gives the same bytes, and their number is bounded:
// similar parts are drawn once.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_REPORT_HTMLREPORT_H
#define WEFT_COMPILER_REPORT_HTMLREPORT_H

#include "weft/base/pipeline/Replay.h"
#include "weft/compiler/explain/Budget.h"
#include "weft/compiler/explain/TensorLayouts.h"
#include "weft/compiler/explain/Timeline.h"

namespace weft {

/// When the stages of a pipeline compute what, in units of time.
struct StageLanes {
  pipeline::Schedule schedule;
  pipeline::Replay replay;
};

struct Report {
  std::string program; ///< file of the model: model.json
  Explanation explanation;
  Mesh mesh;
  std::vector<TensorLayout> tensors;
  Timeline timeline;
  std::vector<LimitStatus> limits;
  std::optional<StageLanes> stages = std::nullopt; ///< of a pipeline
};

std::string toHtml(const Report &report);

} // namespace weft

#endif // WEFT_COMPILER_REPORT_HTMLREPORT_H
