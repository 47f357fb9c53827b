//===- OpClasses.td - base classes of op definitions -------------------------//

#ifndef WEFT_DIALECTS_WEFT_OPCLASSES
#define WEFT_DIALECTS_WEFT_OPCLASSES

include "weft/dialects/weft/Interfaces.td"
include "weft/dialects/weft/KernelTraits.td"
include "weft/dialects/weft/WeftAttributes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

defvar Weft_Tensor = AnyRankedTensor;
// Types that have an order or bits: no complex numbers.
defvar Weft_RealTensor = RankedTensorOf<[AnyInteger, AnyFloat]>;
defvar Weft_FloatTensor = RankedTensorOf<[AnyFloat]>;
defvar Weft_InexactTensor = RankedTensorOf<[AnyFloat, AnyComplex]>;
defvar Weft_IntegerTensor = RankedTensorOf<[AnyInteger]>;
defvar Differentiable = DeclareOpInterfaceMethods<DifferentiableOpInterface>;

// tools/check/check_ops.py reads the three strings for docs/ops.md.
class Weft_Op<string mnemonic, list<Trait> traits = []>
    : Op<Weft_Dialect, mnemonic, traits> {
  string stablehlo = mnemonic; // the StableHLO op with the same meaning
  string factors = "pass";     // kinds of the factors of its rule
  string derivative = "";      // words about the derivative, for docs/ops.md
}
// An op that computes: pure, with a sharding rule.
class Weft_ShardedOp<string mnemonic, list<Trait> traits = []>
    : Weft_Op<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<ShardingRuleOpInterface>], traits)>;

// An op whose result depends on positions: its local form needs the
// LocalPlacement.
class Weft_PositionedOp<string mnemonic, list<Trait> traits = []>
    : Weft_Op<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<ShardingRuleOpInterface, ["buildLocal"]>], traits)>;

#endif // WEFT_DIALECTS_WEFT_OPCLASSES
