//===- TimeSection.cpp - computing and communication over time ------------===//
//
// For each class of devices, a lane of computing and one of communication, from
// left to right in time by the prices of links and kernels:
//
//   computing      ███▁▁████████▁▁▁▁▁████
//   communication  ▁▁▁██▒▒▒██████████▁▁▁▁
//
// What a device waits for is filled; the rest is under compute.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/report/Html.h"
#include "weft/compiler/report/Sections.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace weft;
using namespace weft::html;

/// "12.3 us".
static std::string microseconds(double seconds) {
  return llvm::formatv("{0:f1} µs", seconds * 1e6).str();
}

/// Draws times as bars; adjacent ones of less than a pixel are one bar.
static void writeBars(const std::vector<BusyTime> &times, double end, double y,
                      llvm::StringRef look, llvm::raw_ostream &out) {
  auto x = [&](double seconds) {
    return kLanesLeft + (kLanesRight - kLanesLeft) * seconds / end;
  };
  for (size_t i = 0; i < times.size();) {
    size_t first = i;
    double last = times[i].end;
    for (++i; i < times.size() && x(times[i].begin) - x(last) < 1; ++i) {
      if (x(last) - x(times[first].begin) > 3)
        break;
      last = std::max(last, times[i].end);
    }
    std::string what = shortened(times[first].what, 60);
    if (i - first > 1)
      what += " and " + std::to_string(i - first - 1) + " more";
    out << "<rect " << look << " x=\"" << px(x(times[first].begin)) << "\" y=\""
        << px(y) << "\" width=\""
        << px(std::max(x(last) - x(times[first].begin), 0.5))
        << "\" height=\"16\"><title>" << escaped(what) << ": "
        << microseconds(last - times[first].begin) << "</title></rect>";
  }
}

static void writeLane(llvm::StringRef name, double seconds, double y,
                      llvm::raw_ostream &out) {
  out << "<text class=\"name\" x=\"0\" y=\"" << px(y + 9) << "\">" << name
      << "</text><text class=\"sub\" x=\"0\" y=\"" << px(y + 22) << "\">"
      << microseconds(seconds) << "</text><path class=\"rule\" d=\"M"
      << px(kLanesLeft) << " " << px(y + 16.5) << "H" << px(kLanesRight)
      << "\"/>";
}

static void writeDevices(const StepTimes &times, llvm::raw_ostream &out) {
  double end = 1e-12;
  for (const auto *busy : {&times.computed, &times.sent})
    for (const BusyTime &time : *busy)
      end = std::max(end, time.end);
  out << "<h3>"
      << escaped(times.devices == "all" ? "All devices" : times.devices)
      << ": a step of " << microseconds(times.step) << ", "
      << microseconds(times.exposed)
      << " of it exposed communication</h3><div class=\"wide\"><svg "
         "class=\"step\" viewBox=\"0 0 1040 "
      << px(2 * kLaneHeight + 8)
      << "\" role=\"img\" aria-label=\"computing and communication over "
         "time\">";
  writeLane("computing", times.computing, 4, out);
  writeBars(times.computed, end, 4, "class=\"kernel\"", out);
  writeLane("communication", times.communication, 4 + kLaneHeight, out);
  writeBars(times.sent, end, 4 + kLaneHeight,
            "class=\"k2\" fill-opacity=\".4\"", out);
  writeBars(times.waited, end, 4 + kLaneHeight, "class=\"m5\"", out);
  out << "</svg></div>";
}

void html::writeTimes(const Report &report, llvm::raw_ostream &out) {
  if (report.explanation.times.empty())
    return;
  out << "<section id=\"times\"><h2>The step over time</h2><p "
         "class=\"lead\">By "
         "the prices of links and kernels; the body of a loop is drawn once, "
         "and counts as often as it runs.</p>";
  for (const StepTimes &times : report.explanation.times)
    writeDevices(times, out);
  out << "<ul class=\"legend\"><li><i class=\"k2\" "
         "style=\"opacity:.4\"></i>communication under compute</li><li><i "
         "class=\"m5\"></i>exposed: the device waits</li></ul></section>";
}
