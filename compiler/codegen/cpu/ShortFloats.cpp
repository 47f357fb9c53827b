//===- ShortFloats.cpp - rounding to bf16 on processors without it ---------===//

#include "weft/compiler/codegen/cpu/LowerKernel.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace weft::cpu {

static bool usesBFloat(const Module &module) {
  for (const Function &function : module)
    for (const BasicBlock &block : function)
      for (const Instruction &instruction : block) {
        auto isShort = [](const Value *value) { return value->getType()->getScalarType()->isBFloatTy(); };
        if (isShort(&instruction) || any_of(instruction.operands(), isShort))
          return true;
      }
  return false;
}

/// The code generator calls `__truncsfbf2`, which neither libc nor libm has:
/// the nearest of 16 bits, halves to even; NaN stays one.
void defineBFloatRounding(Module &module) {
  if (!usesBFloat(module) || module.getFunction("__truncsfbf2"))
    return;
  LLVMContext &context = module.getContext();
  auto *type = FunctionType::get(Type::getBFloatTy(context), {Type::getFloatTy(context)}, false);
  auto *function = Function::Create(type, GlobalValue::WeakODRLinkage, "__truncsfbf2", module);
  function->setVisibility(GlobalValue::HiddenVisibility);
  IRBuilder<> b(BasicBlock::Create(context, "", function));
  Value *x = function->getArg(0);
  Value *bits = b.CreateBitCast(x, b.getInt32Ty());
  Value *odd = b.CreateAnd(b.CreateLShr(bits, 16), 1);
  Value *rounded = b.CreateAdd(b.CreateAdd(bits, b.getInt32(0x7fff)), odd);
  Value *quiet = b.CreateOr(bits, b.getInt32(0x400000));
  Value *chosen = b.CreateSelect(b.CreateFCmpUNO(x, x), quiet, rounded);
  Value *high = b.CreateTrunc(b.CreateLShr(chosen, 16), b.getInt16Ty());
  b.CreateRet(b.CreateBitCast(high, Type::getBFloatTy(context)));
}

} // namespace weft::cpu
