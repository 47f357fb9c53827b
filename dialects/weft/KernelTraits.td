//===- KernelTraits.td - the role of an op in kernels ------------------------//

#ifndef WEFT_DIALECTS_WEFT_KERNELTRAITS
#define WEFT_DIALECTS_WEFT_KERNELTRAITS

include "mlir/IR/OpBase.td"

// KernelTraits.h explains the traits.
class Weft_KernelTrait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::weft";
}
def MovesElements : Weft_KernelTrait<"MovesElements">;
def GeneratesElements : Weft_KernelTrait<"GeneratesElements">;
def KeepsPositions : Weft_KernelTrait<"KeepsPositions">;
def Costly : Weft_KernelTrait<"Costly">;
def ReductionNest : Weft_KernelTrait<"ReductionNest">;
def ContractionNest : Weft_KernelTrait<"ContractionNest">;
def OwnLoopNest : Weft_KernelTrait<"OwnLoopNest">;

#endif // WEFT_DIALECTS_WEFT_KERNELTRAITS
