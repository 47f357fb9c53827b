//===- ConvertKernel.cpp - scalars, vectors and loops to LLVM -------------===//

#include "weft/compiler/codegen/cpu/ConvertKernel.h"

#include "weft/compiler/codegen/elements/AccurateMath.h"
#include "weft/compiler/codegen/elements/DoubleMath.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace weft::cpu {

namespace {
/// Splits fused multiply-adds: on a processor without the instruction, each
/// element would be a call.
struct SplitMultiplyAdd : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FmaOp op,
                                PatternRewriter &rewriter) const override {
    Value product =
        arith::MulFOp::create(rewriter, op.getLoc(), op.getA(), op.getB());
    rewriter.replaceOpWithNewOp<arith::AddFOp>(op, product, op.getC());
    return success();
  }
};
} // namespace

static FrozenRewritePatternSet approximationsIn(MLIRContext *context,
                                                bool hasFma) {
  RewritePatternSet patterns(context);
  elements::populateAccurateMathPatterns(patterns);
  elements::populateDoubleExponentialPatterns(patterns);
  populateMathPolynomialApproximationPatterns(
      patterns, MathPolynomialApproximationOptions());
  arith::populateExpandBFloat16Patterns(patterns);
  vector::populateVectorToVectorCanonicalizationPatterns(patterns);
  vector::populateVectorBroadcastLoweringPatterns(patterns);
  if (!hasFma)
    patterns.add<SplitMultiplyAdd>(context);
  scf::ForOp::getCanonicalizationPatterns(patterns, context);
  scf::IfOp::getCanonicalizationPatterns(patterns, context);
  return patterns;
}

static FrozenRewritePatternSet conversionsIn(MLIRContext *context,
                                             const LLVMTypeConverter &types) {
  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  populateMathToLLVMConversionPatterns(types, patterns);
  populateComplexToLLVMConversionPatterns(types, patterns);
  populateVectorToLLVMConversionPatterns(types, patterns,
                                         /*reassociateFPReductions=*/false,
                                         /*force32BitVectorIndices=*/true);
  return patterns;
}

KernelConversion::KernelConversion(MLIRContext *context, bool hasFma)
    : types(context), approximations(approximationsIn(context, hasFma)),
      conversions(conversionsIn(context, types)), target(*context) {
  target.addLegalOp<UnrealizedConversionCastOp>();
  // Functions without an LLVM intrinsic stay ops of math, for callLibm().
  target.addIllegalDialect<arith::ArithDialect, cf::ControlFlowDialect,
                           complex::ComplexDialect, scf::SCFDialect,
                           vector::VectorDialect>();
}

/// The most iterations, with those of the loops in it, of a loop that LLVM may
/// unroll: a window of 4 x 4.
static constexpr int64_t kMostUnrolled = 16;

/// The iterations of a loop, times the largest such product of its inner loops;
/// more than kMostUnrolled if that is unknown.
static int64_t iterationsOf(scf::ForOp loop) {
  std::optional<llvm::APInt> count = loop.getStaticTripCount();
  if (!count || count->ugt(kMostUnrolled))
    return kMostUnrolled + 1;
  int64_t inner = 1;
  loop.getBody()->walk<WalkOrder::PreOrder>([&](scf::ForOp nested) {
    inner = std::max(inner, iterationsOf(nested));
    return WalkResult::skip();
  });
  return static_cast<int64_t>(count->getZExtValue()) * inner;
}

/// Whether the loop's iterations are one or two vectors, if they are independent:
/// unrolled, they would be scalars, of which LLVM makes vectors along the loop
/// around them, with gathers.
static bool isOfVectors(scf::ForOp loop, LLVM::LoopAnnotationAttr note) {
  std::optional<llvm::APInt> count = loop.getStaticTripCount();
  return note && !note.getParallelAccesses().empty() && count &&
         (*count == 8 || *count == 16);
}

/// Forbids LLVM to unroll other loops. By default it unrolls small outer loops
/// with all that is in them, and inner loops before it vectorizes them, which
/// multiplied the code of a softmax by six.
static void limitUnrolling(ModuleOp module) {
  MLIRContext *context = module.getContext();
  auto disable = LLVM::LoopUnrollAttr::get(
      context, BoolAttr::get(context, true), {}, {}, {}, {}, {}, {});
  StringRef name = "llvm.loop_annotation";
  module.walk([&](scf::ForOp loop) {
    auto old = loop->getAttrOfType<LLVM::LoopAnnotationAttr>(name);
    if ((iterationsOf(loop) <= kMostUnrolled && !isOfVectors(loop, old)) ||
        (old && old.getDisableNonforced()))
      return;
    loop->setAttr(name,
                  LLVM::LoopAnnotationAttr::get(
                      context, {}, {}, old ? old.getInterleave() : nullptr,
                      disable, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                      old ? old.getParallelAccesses()
                          : ArrayRef<LLVM::AccessGroupAttr>()));
  });
}

/// Replaces functions without approximations or instructions by calls of libm.
static LogicalResult callLibm(ModuleOp module) {
  bool found = module
                   .walk([](Operation *op) {
                     return isa<math::MathDialect>(op->getDialect())
                                ? WalkResult::interrupt()
                                : WalkResult::advance();
                   })
                   .wasInterrupted();
  if (!found)
    return success();
  PassManager passes(module.getContext());
  passes.addPass(createConvertMathToLibmPass());
  passes.addPass(createConvertFuncToLLVMPass());
  return passes.run(module);
}

LogicalResult KernelConversion::run(ModuleOp module) const {
  if (failed(applyPatternsGreedily(module, approximations)))
    return failure();
  IRRewriter rewriter(module.getContext());
  DominanceInfo dominance;
  eliminateCommonSubExpressions(rewriter, dominance, module);
  limitUnrolling(module);
  if (failed(applyPartialConversion(module, target, conversions)) ||
      failed(callLibm(module)))
    return failure();
  SmallVector<UnrealizedConversionCastOp> casts;
  module.walk([&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
  reconcileUnrealizedCasts(casts);
  return success();
}

} // namespace weft::cpu
