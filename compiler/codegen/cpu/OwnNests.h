//===- OwnNests.h - the nests of ops that are computed as a whole ----------===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_OWNNESTS_H
#define WEFT_COMPILER_CODEGEN_CPU_OWNNESTS_H

#include "weft/compiler/codegen/cpu/KernelEmitter.h"
#include "weft/dialects/weft/FoldOps.h"
#include "weft/dialects/weft/IndexingOps.h"
#include "weft/dialects/weft/LinearAlgebraOps.h"
#include "weft/dialects/weft/ScanOps.h"
#include "weft/dialects/weft/WindowOps.h"

namespace weft::cpu {

// ScanNests.cpp
llvm::LogicalResult emitCumulative(elements::ElementEmitter &emitter,
                                   CumulativeOp op);
llvm::LogicalResult emitArgMax(elements::ElementEmitter &emitter, ArgMaxOp op);
llvm::LogicalResult emitArgMin(elements::ElementEmitter &emitter, ArgMinOp op);
llvm::LogicalResult emitTopK(elements::ElementEmitter &emitter, TopKOp op);
// SortNests.cpp
llvm::LogicalResult emitSort(elements::ElementEmitter &emitter, SortOp op);
// FoldNests.cpp
llvm::LogicalResult emitFold(elements::ElementEmitter &emitter, FoldOp op);
// ScatterNests.cpp
llvm::LogicalResult emitScatter(elements::ElementEmitter &emitter,
                                ScatterOp op);
// WindowNests.cpp
llvm::LogicalResult emitReduceWindow(elements::ElementEmitter &emitter,
                                     ReduceWindowOp op);
llvm::LogicalResult emitSelectAndScatter(elements::ElementEmitter &emitter,
                                         SelectAndScatterOp op);
llvm::LogicalResult emitConvolution(elements::ElementEmitter &emitter,
                                    ConvolutionOp op);
// MatrixNests.cpp
llvm::LogicalResult emitCholesky(elements::ElementEmitter &emitter,
                                 CholeskyOp op);
llvm::LogicalResult emitTriangularSolve(elements::ElementEmitter &emitter,
                                        TriangularSolveOp op);
// FourierNests.cpp
llvm::LogicalResult emitFft(elements::ElementEmitter &emitter, FftOp op);

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_OWNNESTS_H
