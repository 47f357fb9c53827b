//===- KernelTable.cpp - the decisions about each kernel ------------------===//

#include "weft/compiler/explain/KernelTable.h"

#include "weft/base/Text.h"
#include "weft/compiler/explain/Explain.h"
#include "weft/dialects/nest/KernelWork.h"
#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace weft;

/// An attribute of the dialect without its prefix: "elements<flat>".
static std::string shortText(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return llvm::StringRef(text).split("#nest.").second.str();
}

static int64_t bytesOfAll(TypeRange types) {
  int64_t bytes = 0;
  for (Type type : types)
    bytes = saturatingAdd(bytes, bufferBytes(cast<RankedTensorType>(type)));
  return bytes;
}

static NestLine lineOf(nest::LoopsOp loops) {
  NestLine line;
  line.walk = shortText(loops.getWalk());
  for (Operation &op : loops.getBody().front().without_terminator())
    line.ops.push_back(op.getName().stripDialect().str());
  for (Attribute place : loops.getPlaces()) {
    std::string full = shortText(place);
    StringRef text(full);
    text.consume_front("place<");
    text.consume_back(">");
    line.places.push_back(text.str());
  }
  line.storedBytes = bytesOfAll(loops.getResultTypes());
  return line;
}

static KernelLine lineOf(func::FuncOp kernel, int64_t launches) {
  KernelLine line;
  line.name = kernel.getName().str();
  line.launches = launches;
  line.bytesRead = bytesOfAll(kernel.getArgumentTypes());
  line.bytesWritten = bytesOfAll(kernel.getResultTypes());
  for (auto loops : kernel.getOps<nest::LoopsOp>())
    line.nests.push_back(lineOf(loops));
  line.operations = nest::operationsOf(kernel);
  nest::KernelAttr decisions = nest::decisionsOf(kernel);
  if (!decisions)
    return line;
  line.target = decisions.getTarget().str();
  line.scratchBytes = decisions.getScratch();
  line.plannedBytes = decisions.getPlanned();
  if (decisions.getReason())
    line.reason = decisions.getReason().str();
  if (nest::ShareAttr share = decisions.getShare())
    line.share = "at most " + std::to_string(share.getShares()) +
                 " workers share " + std::to_string(share.getSize()) +
                 " positions in units of " + std::to_string(share.getUnit());
  return line;
}

std::vector<KernelLine> weft::kernelTable(ModuleOp module) {
  llvm::StringMap<int64_t> launches;
  module.walk([&](plan::LaunchOp launch) { ++launches[launch.getKernel()]; });
  std::vector<KernelLine> lines;
  for (auto kernel : module.getOps<func::FuncOp>())
    if (isKernel(kernel))
      lines.push_back(lineOf(kernel, launches.lookup(kernel.getName())));
  llvm::sort(lines, [](const KernelLine &a, const KernelLine &b) {
    return std::make_pair(-a.operations * a.launches, a.name) <
           std::make_pair(-b.operations * b.launches, b.name);
  });
  return lines;
}

static llvm::json::Array strings(llvm::ArrayRef<std::string> values) {
  return llvm::json::Array(values);
}

llvm::json::Value weft::toJson(llvm::ArrayRef<KernelLine> kernels) {
  llvm::json::Array all;
  for (const KernelLine &kernel : kernels) {
    llvm::json::Array nests;
    for (const NestLine &nest : kernel.nests)
      nests.push_back(llvm::json::Object{{"walk", nest.walk},
                                         {"ops", strings(nest.ops)},
                                         {"places", strings(nest.places)},
                                         {"stored_bytes", nest.storedBytes}});
    all.push_back(llvm::json::Object{{"name", kernel.name},
                                     {"target", kernel.target},
                                     {"launches", kernel.launches},
                                     {"bytes_read", kernel.bytesRead},
                                     {"bytes_written", kernel.bytesWritten},
                                     {"operations", kernel.operations},
                                     {"scratch_bytes", kernel.scratchBytes},
                                     {"planned_bytes", kernel.plannedBytes},
                                     {"share", kernel.share},
                                     {"reason", kernel.reason},
                                     {"nests", std::move(nests)}});
  }
  return all;
}

namespace {
/// Writes words separated by blanks, in lines of at most `width` columns where
/// words allow it. The first line is indented by `indent`, further lines by 6.
class Lines {
public:
  Lines(llvm::raw_ostream &out [[clang::lifetimebound]], unsigned width)
      : out(out), width(width) {}
  void begin(unsigned indent) {
    next = indent;
    column = 0;
  }
  void word(llvm::StringRef text) {
    if (column != 0 && column + 1 + text.size() > width) {
      out << "\n";
      column = 0;
      next = 6;
    }
    if (column == 0)
      out.indent(next), column = next;
    else
      out << " ", ++column;
    out << text;
    column += text.size();
  }
  void text(llvm::StringRef all) {
    for (llvm::StringRef each : llvm::split(all, ' '))
      word(each);
  }
  void end() { out << "\n"; }

private:
  llvm::raw_ostream &out;
  unsigned width, column = 0, next = 0;
};
} // namespace

/// The places of the stores, each once: sums may share the memory of a value
/// that is computed from them.
static std::vector<std::string> eachOnce(llvm::ArrayRef<std::string> places) {
  std::vector<std::string> once;
  for (const std::string &place : places)
    if (!llvm::is_contained(once, place))
      once.push_back(place);
  return once;
}

std::string weft::toText(llvm::ArrayRef<KernelLine> kernels, unsigned width) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "Kernels" << (kernels.empty() ? "" : " for " + kernels.front().target)
      << ": " << kernels.size() << "\n";
  Lines lines(out, width);
  auto line = [&](unsigned indent, const llvm::Twine &words) {
    lines.begin(indent);
    lines.text(words.str());
    lines.end();
  };
  for (const KernelLine &kernel : kernels) {
    line(2, kernel.name + ": " + std::to_string(kernel.launches) +
                (kernel.launches == 1 ? " launch" : " launches") + " of " +
                grouped(int64_t(kernel.operations)) + " operations");
    line(4,
         "reads " + grouped(kernel.bytesRead) + " bytes, writes " +
             grouped(kernel.bytesWritten) + ", scratch " +
             grouped(kernel.scratchBytes) +
             (kernel.plannedBytes ? ", planned " + grouped(kernel.plannedBytes)
                                  : ""));
    for (const std::string &note : {kernel.share, kernel.reason})
      if (!note.empty())
        line(4, note);
    for (const NestLine &nest : kernel.nests)
      line(4, nest.walk + ": " + llvm::join(nest.ops, " ") + " -> " +
                  llvm::join(eachOnce(nest.places), ", "));
  }
  return text;
}
