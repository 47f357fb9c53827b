//===- MemorySection.cpp - memory of the fullest device -------------------===//

#include "weft/compiler/report/Html.h"

#include "weft/base/Text.h"
#include "weft/compiler/report/Sections.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace weft;
using namespace weft::html;

static void writeCategories(const Report &report, llvm::raw_ostream &out) {
  const MemoryUse &memory = report.explanation.memory;
  bool trains = report.timeline.trains;
  using Row =
      std::tuple<llvm::StringRef, llvm::StringRef, int64_t, llvm::StringRef>;
  out << "<div class=\"wide\"><table><thead><tr><th>of the fullest "
         "device</th><th "
         "class=\"num\">bytes</th><th class=\"num\">share</th><th>contents"
         "</th></tr>"
         "</thead><tbody>";
  for (auto [color, name, bytes, note] : std::initializer_list<Row>{
           {"m1", "weights", memory.weights, "parameters and other state"},
           {"m2", "optimizer", memory.optimizer, "its slots"},
           {"m3", memory.batchName(), memory.batch, memory.batchNote()},
           {"m4", "activations", memory.activations,
            trains ? "kept for the gradients, and results" : "results"},
           {"m5", "temporaries", memory.temporaries,
            "the rest of the arena that kernels work in"}}) {
    double share = memory.total() ? 100.0 * bytes / memory.total() : 0;
    out << "<tr><td><i class=\"dot " << color << "\"></i>" << name
        << "</td><td class=\"num\">" << grouped(bytes)
        << "</td><td class=\"num\">" << px(share)
        << " %<i class=\"bar\" style=\"width:" << px(share)
        << "%\"></i></td><td>" << note << "</td></tr>";
  }
  out << "</tbody><tfoot><tr><td>total</td><td class=\"num\">"
      << grouped(memory.total()) << "</td><td></td><td>"
      << sizeText(memory.total()) << "</td></tr></tfoot></table></div>";
}

namespace {
/// Buffers at the peak that differ only in the numbers in their names; `first`
/// has the bytes of all.
struct LikeResidents {
  Resident first;
  size_t count = 1;
};
} // namespace

/// The groups of buffers, the largest sum first; one buffer each if there are
/// few.
static std::vector<LikeResidents>
likeResidents(const std::vector<Resident> &residents) {
  constexpr size_t many = 12;
  std::vector<LikeResidents> found;
  std::map<std::string, size_t> known;
  for (const Resident &resident : residents) {
    std::string key = std::to_string(found.size());
    if (residents.size() > many)
      key = withoutNumbers(resident.where) + "|" + resident.type +
            (resident.isKept ? "|kept" : "|");
    auto [entry, isNew] = known.try_emplace(key, found.size());
    if (isNew) {
      found.push_back({resident});
      continue;
    }
    LikeResidents &likeResidents = found[entry->second];
    ++likeResidents.count;
    likeResidents.first.bytes += resident.bytes;
    likeResidents.first.first =
        std::min(likeResidents.first.first, resident.first);
    likeResidents.first.last =
        std::max(likeResidents.first.last, resident.last);
  }
  llvm::stable_sort(found, [](const LikeResidents &a, const LikeResidents &b) {
    return a.first.bytes > b.first.bytes;
  });
  return found;
}

static void writeLikeResidents(const LikeResidents &likeResidents,
                               llvm::raw_ostream &out) {
  const Resident &resident = likeResidents.first;
  out << "<tr><td>"
      << (resident.where.empty() ? std::string("–")
                                 : code(shortened(resident.where, 90)));
  if (likeResidents.count > 1)
    out << " and " << grouped(likeResidents.count - 1) << " like it";
  out << "</td><td>" << escaped(resident.type) << "</td><td class=\"num\">"
      << grouped(resident.bytes) << "</td><td class=\"num\">"
      << grouped(resident.first + 1) << "–" << grouped(resident.last + 1)
      << "</td><td>" << (resident.isKept ? "activation" : "temporary")
      << "</td></tr>";
}

/// Writes the buffers of the arena at the peak.
static void writePeak(const Report &report, llvm::raw_ostream &out) {
  constexpr size_t most = 20;
  const Timeline &timeline = report.timeline;
  if (timeline.atPeak.empty())
    return;
  const Moment &peak = timeline.moments[timeline.peak];
  out << "<h3>At the peak</h3><p class=\"lead\">Instruction "
      << grouped(timeline.peak + 1) << ", " << code(shortened(peak.what, 100));
  if (!peak.where.empty())
    out << " for " << codeList(peak.where, 3);
  out << ": " << grouped(peak.inUse()) << " of the arena's "
      << bytesText(timeline.arena) << " hold something";
  if (timeline.unused() > 0)
    out << "; " << grouped(timeline.unused()) << " lie between buffers";
  out << ".</p><div class=\"wide\"><table><thead><tr><th>buffer "
         "of</th><th>shape "
         "on a device</th><th class=\"num\">bytes</th><th class=\"num\">in use "
         "in "
         "instructions</th><th>as</th></tr></thead><tbody>";
  std::vector<LikeResidents> all = likeResidents(timeline.atPeak);
  for (const LikeResidents &one : llvm::ArrayRef(all).take_front(most))
    writeLikeResidents(one, out);
  out << "</tbody></table></div>";
  if (all.size() <= most)
    return;
  int64_t bytes = 0;
  for (const LikeResidents &one : llvm::ArrayRef(all).drop_front(most))
    bytes += one.first.bytes;
  out << "<p class=\"note\">and " << grouped(all.size() - most)
      << " smaller ones with " << bytesText(bytes) << "</p>";
}

void html::writeMemory(const Report &report, llvm::raw_ostream &out) {
  out << "<section id=\"memory\"><h2>Memory</h2>";
  writeCategories(report, out);
  writePeak(report, out);
  out << "</section>";
}
