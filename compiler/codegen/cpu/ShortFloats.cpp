//===- ShortFloats.cpp - rounding to bf16 on processors without it --------===//

#include "weft/compiler/codegen/cpu/LowerKernel.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace weft::cpu {

static bool usesBFloat(const Module &module) {
  for (const Function &function : module)
    for (const BasicBlock &block : function)
      for (const Instruction &instruction : block) {
        auto isShort = [](const Value *value) {
          return value->getType()->getScalarType()->isBFloatTy();
        };
        if (isShort(&instruction) || any_of(instruction.operands(), isShort))
          return true;
      }
  return false;
}

/// Creates a weak, hidden function; null if the module has a function of that
/// name.
static Function *roundingFrom(Type *from, StringRef name, Module &module) {
  if (module.getFunction(name))
    return nullptr;
  auto *type =
      FunctionType::get(Type::getBFloatTy(module.getContext()), {from}, false);
  auto *function =
      Function::Create(type, GlobalValue::WeakODRLinkage, name, module);
  function->setVisibility(GlobalValue::HiddenVisibility);
  return function;
}

/// Rounds to the nearest of 16 bits, ties to even; NaN stays NaN.
static Value *nearest(IRBuilder<> &b, Value *x) {
  Value *bits = b.CreateBitCast(x, b.getInt32Ty());
  Value *odd = b.CreateAnd(b.CreateLShr(bits, 16), 1);
  Value *rounded = b.CreateAdd(b.CreateAdd(bits, b.getInt32(0x7fff)), odd);
  Value *quiet = b.CreateOr(bits, b.getInt32(0x400000));
  Value *chosen = b.CreateSelect(b.CreateFCmpUNO(x, x), quiet, rounded);
  Value *high = b.CreateTrunc(b.CreateLShr(chosen, 16), b.getInt16Ty());
  return b.CreateBitCast(high, Type::getBFloatTy(b.getContext()));
}

/// Rounds to f32 towards zero, with the last bit set if that is inexact, so
/// that rounding again gives the result of rounding the double.
static Value *roundedToOdd(IRBuilder<> &b, Value *x) {
  Value *single = b.CreateFPTrunc(x, b.getFloatTy());
  Value *back = b.CreateFPExt(single, b.getDoubleTy());
  Value *bits = b.CreateBitCast(single, b.getInt32Ty());
  auto size = [&](Value *v) {
    return b.CreateUnaryIntrinsic(Intrinsic::fabs, v);
  };
  Value *tooLarge = b.CreateFCmpOGT(size(back), size(x));
  Value *towardsZero =
      b.CreateSub(bits, b.CreateZExt(tooLarge, b.getInt32Ty()));
  Value *inexact = b.CreateFCmpONE(back, x);
  Value *odd = b.CreateOr(towardsZero, b.CreateZExt(inexact, b.getInt32Ty()));
  return b.CreateBitCast(odd, b.getFloatTy());
}

/// Defines `__truncsfbf2` and `__truncdfbf2`, which the code generator calls
/// and neither libc nor libm has.
void defineBFloatRounding(Module &module) {
  if (!usesBFloat(module))
    return;
  LLVMContext &context = module.getContext();
  if (Function *f =
          roundingFrom(Type::getFloatTy(context), "__truncsfbf2", module)) {
    IRBuilder<> b(BasicBlock::Create(context, "", f));
    b.CreateRet(nearest(b, f->getArg(0)));
  }
  if (Function *f =
          roundingFrom(Type::getDoubleTy(context), "__truncdfbf2", module)) {
    IRBuilder<> b(BasicBlock::Create(context, "", f));
    b.CreateRet(nearest(b, roundedToOdd(b, f->getArg(0))));
  }
}

} // namespace weft::cpu
