//===- CollOps.td - explicit communication of local tensors ------------------//

#ifndef WEFT_DIALECTS_COLL_OPS
#define WEFT_DIALECTS_COLL_OPS

include "weft/dialects/plan/PlanInstruction.td"
include "weft/dialects/weft/Interfaces.td"
include "weft/dialects/weft/KernelTraits.td"
include "weft/dialects/weft/WeftAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Coll_Dialect : Dialect {
  let name = "coll";
  let cppNamespace = "::weft::coll";
  let summary = "Communication between the devices of a mesh.";
  let description = [{
    Every device runs the same program on local shapes. An op names the mesh and
    the digits of its axes that vary within a group; a group's devices are
    ordered by these digits, major to minor. Blocks past a tensor's end are
    undefined: results are truncated to their type.
    Collectives are not speculated or duplicated (they have memory effects) but
    may be removed when unused.
  }];
  let dependentDialects = ["::weft::WeftDialect", "::weft::plan::PlanDialect"];
}

class Coll_Op<string mnemonic, list<Trait> traits = []> : Op<Coll_Dialect, mnemonic, traits> {
  string hlo = ""; // the XLA opcode with the same meaning (compiler/hlo)
}

// The read effect keeps an op from being moved across a condition; an op
// without uses may still be removed.
def Coll_Links : Resource<"::weft::coll::Links">;
class Coll_CommunicatingOp<string mnemonic, list<Trait> traits = [], list<string> more = []>
    : Coll_Op<mnemonic, !listconcat([
        MemoryEffects<[MemRead<Coll_Links>]>,
        DeclareOpInterfaceMethods<Plan_InstructionOpInterface, more>], traits)>;

// Collectives that work on shards along the free axes of a region
// (CollRules.cpp); other collectives take unsharded values there.
defvar Coll_OnShards = DeclareOpInterfaceMethods<ShardingRuleOpInterface>;

// Attributes of a collective: `reason` tells people its origin in one line
// ("gradient of d1/kernel: summed over data"). `group` is a rank-1 layout: its
// only dimension lists the axes, major to minor. It prints as `over #mesh
// ["data", "model":(2)2]`.

def Coll_CoordinateOp : Coll_Op<"coordinate", [Pure, Coll_OnShards, GeneratesElements]> {
  let summary = "the device's mixed-radix coordinate along axes, tensor<i64>";
  let description = [{ `%c = coll.coordinate over #mesh ["data"] : tensor<i64>` }];
  let arguments = (ins Weft_LayoutAttr:$group);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "`over` custom<Group>($group) attr-dict `:` type($result)";
  let hasVerifier = 1; // (C1) the result is tensor<i64>
}
def Coll_SliceOp : Coll_Op<"slice", [Pure, Coll_OnShards, MovesElements]> {
  let summary = "keeps block k of the result's size along a dimension, k the coordinate; nothing moves";
  let description = [{ `%1 = coll.slice %0 dim 0 over #mesh ["data"] : tensor<7xf32> -> tensor<2xf32>`. (C1) other dimensions agree; (C2) the result's size is ceil(n / group size). }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$dim, Weft_LayoutAttr:$group, OptionalAttr<StrAttr>:$reason);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `dim` $dim `over` custom<Group>($group) (`reason` $reason^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}
def Coll_MakePartialOp : Coll_Op<"make_partial", [Pure, KeepsPositions, DeclareOpInterfaceMethods<KernelOpInterface, ["getElementsReadElsewhere"]>]> {
  let summary = "the value on coordinate 0, elsewhere the neutral element (of float sums -0); nothing moves";
  let arguments = (ins Weft_ReduceKindAttr:$kind, AnyRankedTensor:$input, Weft_LayoutAttr:$group, OptionalAttr<StrAttr>:$reason);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "`` $kind $input `over` custom<Group>($group) (`reason` $reason^)? attr-dict `:` custom<SameTypes>(type($input), type($result))";
  let hasVerifier = 1; // (C1) operand and result have one type
}
def Coll_AllReduceOp : Coll_CommunicatingOp<"all_reduce", [Coll_OnShards]> {
  let summary = "combines the group's values, in device order; all get the same bits";
  let hlo = "all-reduce";
  let description = [{
    `%1 = coll.all_reduce sum %0 over #mesh ["model"] reason "..." : tensor<8x10xf32>`; several operands are
    reduced in one collective. (C1) results have the operands' types.
  }];
  let arguments = (ins Weft_ReduceKindAttr:$kind, Variadic<AnyRankedTensor>:$inputs, Weft_LayoutAttr:$group, OptionalAttr<StrAttr>:$reason);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "`` $kind $inputs `over` custom<Group>($group) (`reason` $reason^)? attr-dict `:` custom<SameTypeLists>(type($inputs), type($results))";
  let hasVerifier = 1;
}
class Coll_MovingOp<string mnemonic, string text, dag extra, string form, list<Trait> traits = []> : Coll_CommunicatingOp<mnemonic, traits> {
  let summary = text;
  let arguments = !con((ins AnyRankedTensor:$input), extra, (ins Weft_LayoutAttr:$group, OptionalAttr<StrAttr>:$reason));
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = form # " `over` custom<Group>($group) (`reason` $reason^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1; // (C1) dimensions are in the rank, others agree; (C2) sizes fit the group
}
def Coll_AllGatherOp : Coll_MovingOp<"all_gather", "concatenates the group's blocks along a dimension, truncated to the result",
    (ins I64Attr:$dim), "$input `dim` $dim", [Coll_OnShards]> {
  let hlo = "all-gather";
}
def Coll_ReduceScatterOp : Coll_MovingOp<"reduce_scatter", "combines, then keeps block k of the result's size along a dimension",
    (ins Weft_ReduceKindAttr:$kind, I64Attr:$dim), "`` $kind $input `dim` $dim", [Coll_OnShards]> {
  let hlo = "reduce-scatter";
}
def Coll_AllToAllOp : Coll_MovingOp<"all_to_all", "splits along one dimension in blocks of the result's size, sends block j to member j, concatenates along another",
    (ins I64Attr:$split, I64Attr:$concat), "$input `split` $split `concat` $concat", [Coll_OnShards]> {
  let hlo = "all-to-all";
}

def Coll_FetchOp : Coll_MovingOp<"fetch", "receives chosen positions of a dimension that the group shares: halos, shifts, strides",
    (ins I64Attr:$dim, I64Attr:$size, I64Attr:$block, I64Attr:$step, I64Attr:$offset, I64Attr:$divisor, I64Attr:$modulus),
    "$input `dim` $dim `of` $size `at` `block` $block `step` $step `offset` $offset `divisor` $divisor `modulus` $modulus"> {
  let description = [{
    `dim` has `size` elements over the whole group. Element t of member k's
    result is the element at position q, where

        divisor * q == block * k + step * t + offset   (mod modulus, if not 0)

    and undefined where there is none in [0, size). 8 elements over 2 devices,
    each with one neighbour on either side:
    `%1 = coll.fetch %0 dim 0 of 8 at block 4 step 1 offset -1 divisor 1 modulus 0 over #mesh ["x"] : tensor<4xf32> -> tensor<6xf32>`.
    (C1) other dimensions agree; (C2) the operand's size is ceil(size / group
    size); (C3) the divisor is positive, the modulus not negative.
  }];
}

def Coll_PickOp : Coll_CommunicatingOp<"pick"> {
  let summary = "receives the elements at positions that are known when the program runs";
  let description = [{
    `%1 = coll.pick %0 at %p dim 0 over #mesh ["x"] : tensor<4xf32>, tensor<6xi64> -> tensor<6xf32>`.
    The group's blocks follow each other along `dim`; each element of the result
    is the element at the given position there, and at the same position in the
    other dimensions. Positions outside are moved to the first or last. Every
    element counts as moved, as the positions are data.
    (C1) `positions` are i64 and have the result's shape; (C2) the dim lies in
    the rank, other dimensions agree.
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$positions, I64Attr:$dim, Weft_LayoutAttr:$group, OptionalAttr<StrAttr>:$reason);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `at` $positions `dim` $dim `over` custom<Group>($group) (`reason` $reason^)? attr-dict `:` type($input) `,` type($positions) `->` type($result)";
  let hasVerifier = 1;
}

def Coll_CollectivePermuteOp : Coll_MovingOp<"collective_permute", "receives the whole value of a chosen member",
    (ins DenseI64ArrayAttr:$sources), "$input `sources` $sources", [Coll_OnShards]> {
  let hlo = "collective-permute";
  let description = [{
    `%1 = coll.collective_permute %0 sources [3, 0, 1, 2] over #mesh ["x"] : tensor<4xf32> -> tensor<4xf32>`:
    member k receives the value of member sources[k]; where that is -1, its
    result is undefined. One member may send to several.
    (C1) one source for each member, -1 or a member; (C2) operand and result
    have one type.
  }];
}

class Coll_LayoutMoveOp<string mnemonic, string text> : Coll_CommunicatingOp<mnemonic, [], ["getCommunicatingGroup"]> {
  let summary = text;
  let description = [{ `%1 = coll.exchange %0 of [16, 16] from #a to #b : tensor<8x16xf32> -> tensor<16x8xf32>` (global shape in brackets). (C1) operand and result have the local shapes of the two layouts; (C2) neither is partial. }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$shape, Weft_LayoutAttr:$from, Weft_LayoutAttr:$to, OptionalAttr<StrAttr>:$reason);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `of` $shape `from` $from `to` $to (`reason` $reason^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}
def Coll_PermuteOp : Coll_LayoutMoveOp<"permute", "each device sends its whole block to one other"> {
  let hlo = "collective-permute";
}
def Coll_ExchangeOp : Coll_LayoutMoveOp<"exchange", "each device receives exactly the elements that it lacks">;

def Coll_MoveOp : Coll_CommunicatingOp<"move"> {
  let summary = "each device receives the elements of boxes that it lacks: what a chain of moving ops moves";
  let description = [{
    `%1 = coll.move %0 of [8] to [7] boxes <[0:7] of 0 at [d0 + 1]> from #a to #a over #mesh ["x"] : tensor<4xf32> -> tensor<4xf32>`
    (global shapes in brackets). Elements of the result in no box are undefined.
    Boxes may read further operands, each of a global shape and in a layout:
    `coll.move %0, %1 of [8] and [#weft.source<[2] in #a>] to [9] boxes ...`.
    (C1) operands and result have the local shapes of the layouts, and one element
    type; (C2) the boxes are of the operands and of the result's shape; (C3) the
    layouts have digits of the group.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, DenseI64ArrayAttr:$shape, OptionalAttr<Weft_SourcesAttr>:$others, DenseI64ArrayAttr:$to_shape, Weft_BoxesAttr:$boxes,
                       Weft_LayoutAttr:$from, Weft_LayoutAttr:$to, Weft_LayoutAttr:$group, OptionalAttr<StrAttr>:$reason);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$inputs `of` $shape (`and` $others^)? `to` $to_shape `boxes` $boxes `from` $from `to` $to `over` custom<Group>($group) (`reason` $reason^)? attr-dict `:` type($inputs) `->` type($result)";
  let hasVerifier = 1;
}

#endif // WEFT_DIALECTS_COLL_OPS
