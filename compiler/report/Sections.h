//===- Sections.h - the parts of the page -----------------------*- C++ -*-===//
//
// Each function write...() writes a <section>; writeBudgets(),
// writeRules(), writeStages() and writeTimes() write nothing if there are none.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_REPORT_SECTIONS_H
#define WEFT_COMPILER_REPORT_SECTIONS_H

#include "weft/compiler/report/HtmlReport.h"

#include "llvm/Support/raw_ostream.h"

namespace weft::html {

/// Where drawings over time have their lanes, in pixels.
inline constexpr double kLanesLeft = 150, kLanesRight = 1030, kLaneHeight = 30;

void writeMesh(const Report &report, llvm::raw_ostream &out);
void writeLayouts(const Report &report, llvm::raw_ostream &out);
/// Writes the drawing of the step: its parts, kernels, collectives, memory.
void writeStep(const Report &report, llvm::raw_ostream &out);
/// Writes when devices compute and communicate, if there is something to tell.
void writeTimes(const Report &report, llvm::raw_ostream &out);
/// Writes what the stages of a pipeline compute over time, if there is one.
void writeStages(const Report &report, llvm::raw_ostream &out);
void writeCollectives(const Report &report, llvm::raw_ostream &out);
void writeMemory(const Report &report, llvm::raw_ostream &out);
void writeBudgets(const Report &report, llvm::raw_ostream &out);
void writeRules(const Report &report, llvm::raw_ostream &out);

/// Draws one tensor to scale, without its caption.
std::string drawTensor(const Mesh &mesh, const TensorLayout &tensor);
/// Describes a layout in words: "split: dimension 1 in 4 over model; 2 copies
/// of each shard".
std::string layoutWords(const Mesh &mesh, const TensorLayout &tensor);

/// The CSS class of a kind's colour.
std::string kindClass(llvm::StringRef kind);
/// Whether the page's script can highlight the blocks of a chosen device.
bool devicesCanBePicked(const Mesh &mesh);

} // namespace weft::html

#endif // WEFT_COMPILER_REPORT_SECTIONS_H
