//===- StepSection.cpp - the step as one drawing --------------------------===//
//
// The drawing of a step has the instructions in program order from left to
// right; the rows are the phases of training, the kernels, the collectives by
// kind, and the memory in use:
//
//   forward      |######|
//   backward            |#########|
//   kernels      ||| |||||||||||| |
//   all_reduce       ▪            █
//   memory       ▁▁▂▂▃▃▅▅▅▅▅▅▃▃▂▂▂▂
//
//===----------------------------------------------------------------------===//

#include "weft/base/Saturating.h"

#include "weft/base/Text.h"
#include "weft/compiler/explain/CollectiveRows.h"
#include "weft/compiler/report/Html.h"
#include "weft/compiler/report/Sections.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cmath>

using namespace weft;
using namespace weft::html;

namespace {

/// Instructions at the same position of the drawing.
struct Column {
  size_t first, last; ///< range of moments
  size_t fullest;     ///< moment with the most bytes in use
};

class StepDrawing {
public:
  explicit StepDrawing(const Report &report [[clang::lifetimebound]]);
  std::string draw();

private:
  static constexpr double left = 150, right = 1030, lane = 38, plot = 210;
  double x(size_t column) const {
    return left + (right - left) * column / columns.size();
  }
  size_t columnOf(size_t moment) const {
    return moment * columns.size() / timeline.moments.size();
  }
  /// The height of a number of bytes in the plot.
  double height(int64_t bytes) const {
    return plot * bytes / std::max<int64_t>(total(), 1);
  }
  int64_t total() const { return report.explanation.memory.total(); }
  void writePhases();
  void writeKernels();
  void writeLanes();
  void writeMarks(const std::vector<size_t> &moments);
  void writeMark(const std::vector<size_t> &moments, int64_t bytes);
  void writeMemory();
  void writeBands();
  void writeTicks();
  void writePeak();
  void writeTips();
  std::string momentText(size_t moment) const;

  const Report &report;
  const Timeline &timeline;
  std::string body;
  llvm::raw_string_ostream out{body};
  std::vector<Column> columns;
  /// Moments of each kind of collective, ordered by the first moment.
  llvm::MapVector<llvm::StringRef, std::vector<size_t>> kinds;
  std::vector<size_t> rowOf; ///< row of the table, by collective
  int64_t busiest = 1;
  double y = 4; ///< top of the next row
};

} // namespace

StepDrawing::StepDrawing(const Report &report)
    : report(report), timeline(report.timeline) {
  constexpr size_t most = 300;
  size_t n = timeline.moments.size(), count = std::min(n, most);
  for (size_t c = 0; c < count; ++c) {
    // The moments m with m * count / n == c.
    Column column{(c * n + count - 1) / count,
                  ((c + 1) * n + count - 1) / count - 1, 0};
    column.fullest = column.first;
    for (size_t m = column.first; m <= column.last; ++m)
      if (timeline.moments[m].inUse() >
          timeline.moments[column.fullest].inUse())
        column.fullest = m;
    columns.push_back(column);
  }
  const auto &collectives = report.explanation.collectives;
  rowOf.resize(collectives.size());
  for (const CollectiveRow &row : collectiveRows(report.explanation))
    for (size_t i : row.members)
      rowOf[i] = row.members.front();
  for (const auto &[m, moment] : llvm::enumerate(timeline.moments))
    if (moment.collective) {
      const CollectiveCost &cost = collectives[*moment.collective];
      kinds[cost.kind].push_back(m);
      busiest = std::max(busiest, cost.totalBytes());
    }
}

std::string StepDrawing::momentText(size_t m) const {
  const Moment &moment = timeline.moments[m];
  std::string text = grouped(m + 1) + ": " + shortened(moment.what, 80);
  if (!moment.where.empty())
    text += " (" + shortened(llvm::join(moment.where, ", "), 80) + ")";
  return text;
}

/// Draws the phases as a ribbon.
void StepDrawing::writePhases() {
  if (!timeline.trains)
    return;
  constexpr llvm::StringLiteral names[] = {"forward", "backward", "update"};
  out << "<text class=\"name\" x=\"0\" y=\"" << px(y + 14)
      << "\">part of the step</text>";
  for (unsigned phase = 0; phase < 3; ++phase) {
    size_t first = timeline.moments.size(), last = 0;
    for (const auto &[m, moment] : llvm::enumerate(timeline.moments))
      if (unsigned(moment.phase) == phase)
        first = std::min(first, m), last = m;
    if (first == timeline.moments.size())
      continue;
    double from = x(columnOf(first)), to = x(columnOf(last) + 1);
    out << "<g><title>" << names[phase] << ": instructions "
        << grouped(first + 1) << " to " << grouped(last + 1)
        << "</title><rect class=\"phase p" << phase << "\" x=\"" << px(from + 1)
        << "\" y=\"" << px(y) << "\" width=\""
        << px(std::max(to - from - 2, 1.0)) << "\" height=\"20\" rx=\"3\"/>";
    if (to - from > 60)
      out << "<text class=\"mid\" x=\"" << px((from + to) / 2) << "\" y=\""
          << px(y + 14) << "\">" << names[phase] << "</text>";
    out << "</g>";
  }
  y += 32;
}

/// Draws a tick for each column in which a kernel runs.
void StepDrawing::writeKernels() {
  size_t kernels = 0;
  std::string ticks;
  for (const auto &[c, column] : llvm::enumerate(columns)) {
    size_t here = 0, shown = column.first;
    for (size_t m = column.first; m <= column.last; ++m)
      if (!timeline.moments[m].collective) {
        shown = here++ ? shown : m;
      }
    kernels += here;
    if (!here)
      continue;
    ticks += "<rect class=\"kernel\" x=\"" + px(x(c) + 0.5) + "\" y=\"" +
             px(y + 6) + "\" width=\"" +
             px(std::max(x(c + 1) - x(c) - 1, 1.0)) +
             "\" height=\"14\"><title>" + escaped(momentText(shown)) +
             (here > 1 ? " and " + std::to_string(here - 1) + " more" : "") +
             "</title></rect>";
  }
  out << "<text class=\"name\" x=\"0\" y=\"" << px(y + 13)
      << "\">kernels</text>"
      << "<text class=\"sub\" x=\"0\" y=\"" << px(y + 27) << "\">"
      << grouped(kernels) << "</text>" << ticks;
  y += lane;
}

/// Draws collectives of one kind as a bar at the column of the first; its
/// height grows with the square root of their bytes.
void StepDrawing::writeMark(const std::vector<size_t> &moments, int64_t bytes) {
  const CollectiveCost &cost =
      report.explanation
          .collectives[*timeline.moments[moments.front()].collective];
  double tall =
      5 + (lane - 13) * std::sqrt(static_cast<double>(bytes) / busiest);
  double wide = std::clamp(x(1) - x(0) - 2, 5.0, 26.0);
  double middle =
      (x(columnOf(moments.front())) + x(columnOf(moments.front()) + 1)) / 2;
  std::string title = momentText(moments.front());
  if (!cost.axes.empty())
    title += " over " + llvm::join(cost.axes, ", ");
  if (moments.size() > 1)
    title += " and " + std::to_string(moments.size() - 1) + " more";
  title += ": " + bytesText(bytes);
  out << "<a href=\"#c" << rowOf[*timeline.moments[moments.front()].collective]
      << "\" class=\"mark\" aria-label=\"" << escaped(title) << "\"><title>"
      << escaped(title) << "</title><rect class=\"hit\" x=\""
      << px(middle - wide / 2 - 2) << "\" y=\"" << px(y) << "\" width=\""
      << px(wide + 4) << "\" height=\"" << px(lane - 4) << "\"/><rect class=\""
      << kindClass(cost.kind) << "\" x=\"" << px(middle - wide / 2) << "\" y=\""
      << px(y + lane - 6 - tall) << "\" width=\"" << px(wide) << "\" height=\""
      << px(tall) << "\" rx=\"1.5\"/></a>";
}

/// Draws adjacent columns that are too close to distinguish as one mark.
void StepDrawing::writeMarks(const std::vector<size_t> &moments) {
  const auto &collectives = report.explanation.collectives;
  size_t near = std::max<size_t>(1, columns.size() / 110);
  for (size_t i = 0; i < moments.size();) {
    std::vector<size_t> here;
    int64_t bytes = 0;
    size_t place = columnOf(moments[i]) / near;
    for (; i < moments.size() && columnOf(moments[i]) / near == place; ++i) {
      const CollectiveCost &cost =
          collectives[*timeline.moments[moments[i]].collective];
      bytes = saturatingAdd(bytes, cost.totalBytes());
      here.push_back(moments[i]);
    }
    writeMark(here, std::min(bytes, busiest));
  }
}

void StepDrawing::writeLanes() {
  const auto &collectives = report.explanation.collectives;
  for (auto &[kind, moments] : kinds) {
    int64_t bytes = 0, times = 0;
    for (size_t m : moments) {
      const CollectiveCost &cost = collectives[*timeline.moments[m].collective];
      bytes = saturatingAdd(bytes, cost.totalBytes());
      times = saturatingAdd(times, cost.count);
    }
    out << "<text class=\"name\" x=\"0\" y=\"" << px(y + 13) << "\">"
        << escaped(kind) << "</text><text class=\"sub\" x=\"0\" y=\""
        << px(y + 27) << "\">" << grouped(times) << " × · " << sizeText(bytes)
        << "</text>"
        << "<path class=\"rule\" d=\"M" << px(left) << " " << px(y + lane - 5.5)
        << "H" << px(right) << "\"/>";
    writeMarks(moments);
    y += lane;
  }
}

/// Draws memory from the bottom: first the constant part, then the parts that
/// change.
void StepDrawing::writeBands() {
  const MemoryUse &memory = report.explanation.memory;
  std::vector<int64_t> floor(columns.size(), 0);
  auto band = [&](llvm::StringRef name, auto bytesAt) {
    std::string upper, lower;
    bool isSeen = false;
    for (size_t c = 0; c < columns.size(); ++c) {
      int64_t bytes = bytesAt(timeline.moments[columns[c].fullest]);
      isSeen |= bytes > 0;
      std::string low = px(y + plot - height(floor[c]));
      floor[c] += bytes;
      std::string high = px(y + plot - height(floor[c]));
      upper += (c ? "H" : "M") + px(x(c)) + (c ? "" : " " + high) + "V" + high;
      lower = "V" + low + "H" + px(x(c)) + lower;
    }
    if (isSeen)
      out << "<path class=\"" << name << "\" d=\"" << upper << "H" << px(right)
          << lower << "Z\"/>";
  };
  band("m1", [&](const Moment &) { return memory.weights; });
  band("m2", [&](const Moment &) { return memory.optimizer; });
  band("m3", [&](const Moment &) { return memory.batch; });
  band("m4", [&](const Moment &at) { return timeline.results + at.kept; });
  band("m5", [&](const Moment &at) { return at.temporaries; });
}

/// The distance between ticks, one of 1, 2, 5, 10, 20, ..., for at most five
/// ticks above 0.
static int64_t tickStep(int64_t top) {
  int64_t step = 1;
  for (int digit = 1; top / step > 5; digit = (digit + 1) % 3)
    step = digit == 2 ? step / 2 * 5 : step * 2;
  return step;
}

void StepDrawing::writeTicks() {
  int64_t unit = 1;
  while (total() / unit >= 2048)
    unit *= 1024;
  int64_t step = tickStep(total() / unit) * unit;
  for (int64_t bytes = 0; bytes <= total(); bytes += step) {
    std::string at = px(y + plot - height(bytes));
    out << "<path class=\"grid\" d=\"M" << px(left) << " " << at << "H"
        << px(right) << "\"/>";
    if (height(total() - bytes) > 12 || bytes == 0)
      out << "<text class=\"tick\" x=\"" << px(left - 6) << "\" y=\""
          << px(y + plot - height(bytes) + 4) << "\">"
          << (bytes ? sizeText(bytes) : std::string("0")) << "</text>";
  }
  out << "<path class=\"limit\" d=\"M" << px(left) << " " << px(y) << "H"
      << px(right) << "\"/><text class=\"tick strong\" x=\"" << px(left - 6)
      << "\" y=\"" << px(y + 4) << "\">" << sizeText(total()) << "</text>";
}

void StepDrawing::writePeak() {
  const Moment &peak = timeline.moments[timeline.peak];
  const MemoryUse &memory = report.explanation.memory;
  int64_t bytes = memory.weights + memory.optimizer + memory.batch +
                  timeline.results + peak.inUse();
  size_t column = columnOf(timeline.peak);
  double at = (x(column) + x(column + 1)) / 2;
  bool isRight = at > (left + right) / 2;
  out << "<g class=\"peak\"><path d=\"M" << px(at) << " " << px(y - 8) << "V"
      << px(y + plot) << "\"/><circle cx=\"" << px(at) << "\" cy=\""
      << px(y + plot - height(bytes)) << "\" r=\"4\"/><text x=\""
      << px(at + (isRight ? -6 : 6)) << "\" y=\"" << px(y - 10) << "\" class=\""
      << (isRight ? "end" : "begin") << "\">peak: " << bytesText(bytes)
      << " in use at instruction " << escaped(momentText(timeline.peak))
      << "</text></g>";
}

/// Writes the text that the pointer shows for each column.
void StepDrawing::writeTips() {
  const MemoryUse &memory = report.explanation.memory;
  int64_t always =
      memory.weights + memory.optimizer + memory.batch + timeline.results;
  for (const auto &[c, column] : llvm::enumerate(columns)) {
    const Moment &moment = timeline.moments[column.fullest];
    out << "<rect class=\"tip\" x=\"" << px(x(c)) << "\" y=\"" << px(y)
        << "\" width=\"" << px(x(c + 1) - x(c)) << "\" height=\"" << px(plot)
        << "\"><title>" << escaped(momentText(column.fullest)) << " – "
        << bytesText(always + moment.inUse())
        << " in use; kept for the gradients " << grouped(moment.kept)
        << ", temporary " << grouped(moment.temporaries) << "</title></rect>";
  }
}

void StepDrawing::writeMemory() {
  y += 30; // room for the label of the peak
  out << "<text class=\"name\" x=\"0\" y=\"" << px(y - 10)
      << "\">memory in use</text>";
  writeTicks();
  writeBands();
  writePeak();
  writeTips();
  out << "<path class=\"axis\" d=\"M" << px(left) << " " << px(y + plot) << "H"
      << px(right) << "\"/>";
  y += plot;
  size_t n = timeline.moments.size();
  out << "<text class=\"at\" x=\"" << px(left) << "\" y=\"" << px(y + 16)
      << "\">instruction 1</text><text class=\"at end\" x=\"" << px(right)
      << "\" y=\"" << px(y + 16) << "\">" << grouped(n) << "</text>";
  y += 24;
}

std::string StepDrawing::draw() {
  writePhases();
  writeKernels();
  writeLanes();
  writeMemory();
  return "<svg class=\"step\" viewBox=\"0 0 1040 " + px(y) +
         "\" role=\"group\" aria-label=\"The step from its first to its last "
         "instruction: " +
         counted(report.explanation.collectives.size(), "collective") +
         ", and the memory in use. The tables below say the same.\">" + body +
         "</svg>";
}

void html::writeStep(const Report &report, llvm::raw_ostream &out) {
  out << "<section id=\"step\"><h2>The step, instruction by instruction</h2>";
  if (report.timeline.moments.empty()) {
    out << "<p>The step does nothing: it returns its "
           "arguments.</p></section>";
    return;
  }
  out << "<p class=\"lead\">From left to right in program order, the same on "
         "every "
         "device; widths are no times. A bar's height grows with the bytes "
         "that a "
         "device sends; it leads to its row of the table.</p><div "
         "class=\"wide\">"
      << StepDrawing(report).draw()
      << "</div><ul class=\"legend\"><li><i "
         "class=\"m1\"></i>weights</li><li><i "
         "class=\"m2\"></i>optimizer</li><li><i "
         "class=\"m3\"></i>"
      << report.explanation.memory.batchName()
      << "</li><li><i "
         "class=\"m4\"></i>activations</li><li><i "
         "class=\"m5\"></i>temporaries</li>"
         "<li><i class=\"m0\"></i>held for the whole step</li></ul></section>";
}
