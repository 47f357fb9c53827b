//===- OwnNests.h - the nests of ops that are computed as a whole ----------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_OWNNESTS_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_OWNNESTS_H

#include "weft/compiler/codegen/elements/ElementEmitter.h"
#include "weft/dialects/weft/ops/FoldOps.h"
#include "weft/dialects/weft/ops/IndexingOps.h"
#include "weft/dialects/weft/ops/LinearAlgebraOps.h"
#include "weft/dialects/weft/ops/ScanOps.h"
#include "weft/dialects/weft/ops/WindowOps.h"

namespace weft::elements {

// ScanNests.cpp
llvm::LogicalResult emitCumulative(ElementEmitter &emitter, CumulativeOp op);
llvm::LogicalResult emitArgMax(ElementEmitter &emitter, ArgMaxOp op);
llvm::LogicalResult emitArgMin(ElementEmitter &emitter, ArgMinOp op);
llvm::LogicalResult emitTopK(ElementEmitter &emitter, TopKOp op);
// SortNests.cpp
llvm::LogicalResult emitSort(ElementEmitter &emitter, SortOp op);
// DigitSort.cpp: needs the working memory of nest::digitSort.
llvm::LogicalResult emitDigitSort(ElementEmitter &emitter, SortOp op);
// FoldNests.cpp
llvm::LogicalResult emitFold(ElementEmitter &emitter, FoldOp op);
// ScatterNests.cpp
llvm::LogicalResult emitScatter(ElementEmitter &emitter, ScatterOp op);
// MovedElements.cpp: replaces the slice in place.
llvm::LogicalResult emitDynamicUpdate(ElementEmitter &emitter,
                                      DynamicUpdateSliceOp op);
// WindowNests.cpp
llvm::LogicalResult emitReduceWindow(ElementEmitter &emitter,
                                     ReduceWindowOp op);
llvm::LogicalResult emitSelectAndScatter(ElementEmitter &emitter,
                                         SelectAndScatterOp op);
llvm::LogicalResult emitConvolution(ElementEmitter &emitter, ConvolutionOp op);
// MatrixNests.cpp
llvm::LogicalResult emitCholesky(ElementEmitter &emitter, CholeskyOp op);
llvm::LogicalResult emitTriangularSolve(ElementEmitter &emitter,
                                        TriangularSolveOp op);
// FourierNests.cpp
llvm::LogicalResult emitFft(ElementEmitter &emitter, FftOp op);

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_OWNNESTS_H
