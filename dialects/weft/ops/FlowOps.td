//===- FlowOps.td - loops, branches, recomputation, per-device code ---------------------------//
//
// These ops with regions have no sharding rule. All except weft.manual declare,
// by MLIR's RegionBranchOpInterface, which operands, block arguments, yields and
// results are one value, and these share one layout. Regions use no values from
// outside: all values that a body reads are operands.

#ifndef WEFT_DIALECTS_WEFT_FLOWOPS
#define WEFT_DIALECTS_WEFT_FLOWOPS

include "weft/dialects/weft/OpClasses.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

class Weft_FlowOp<string mnemonic, list<Trait> traits = []>
    : Weft_Op<mnemonic, !listconcat([DeclareOpInterfaceMethods<RegionBranchOpInterface, ["getEntrySuccessorOperands"]>, RecursiveMemoryEffects, IsolatedFromAbove, SingleBlock], traits)> {
  let factors = "as its regions";
}

def Weft_WhileOp : Weft_FlowOp<"while"> {
  let summary = "runs the second region as long as the first says so";
  let derivative = "none: refused by name, see `for`";
  let description = [{
        %n, %y = weft.while(%i, %x) : (tensor<i32>, tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>) {
        ^bb0(%j: tensor<i32>, %v: tensor<8xf32>):
          %c = weft.compare lt %j, %limit ...
          weft.condition %c(%j, %v) : tensor<i1>, tensor<i32>, tensor<8xf32>
        } do {
        ^bb0(%j: tensor<i32>, %v: tensor<8xf32>): ...
          weft.yield %k, %w : tensor<i32>, tensor<8xf32>
        }

    The values that the condition passes on are the arguments of the body, and
    the results in the end. `trip_count` says how often the body runs, where
    that is known.
    (C1) the first region ends with weft.condition, the second with weft.yield;
    (C2) types agree along all of them.
  }];
  let arguments = (ins Variadic<Weft_Tensor>:$inits, OptionalAttr<I64Attr>:$trip_count);
  let results = (outs Variadic<Weft_Tensor>:$results);
  let regions = (region SizedRegion<1>:$condition, SizedRegion<1>:$body);
  let assemblyFormat = "`(` $inits `)` (`times` $trip_count^)? attr-dict `:` functional-type($inits, $results) $condition `do` $body";
  let hasRegionVerifier = 1;
}

def Weft_ForOp : Weft_FlowOp<"for", [DeclareOpInterfaceMethods<DifferentiableOpInterface, ["saveForGradient"]>]> {
  let summary = "runs its region a known number of times";
  let stablehlo = "while with a counter";
  let derivative = "carried values are saved for each time, the rest is computed again";
  let description = [{
        %y = weft.for 10 (%x) : (tensor<8xf32>) -> tensor<8xf32> {
        ^bb0(%i: tensor<i32>, %v: tensor<8xf32>): ...
          weft.yield %w : tensor<8xf32>
        }

    %i counts 0, 1, ..., 9. `saved` is written by differentiation: for each
    carried value the result that has its states in front of each time, or -1.
    (C1) the count is not negative; (C2) the region takes tensor<i32> and the
    carried values, and ends with weft.yield; (C3) types agree along all of
    them; (C4) one entry of `saved` for each carried value before the saved ones.
  }];
  let arguments = (ins I64Attr:$count, Variadic<Weft_Tensor>:$inits, OptionalAttr<DenseI64ArrayAttr>:$saved);
  let results = (outs Variadic<Weft_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$count `(` $inits `)` attr-dict `:` functional-type($inits, $results) $body";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getCounter() { return getBody().getArgument(0); }
    ::llvm::ArrayRef<::mlir::BlockArgument> getCarried() { return getBody().getArguments().drop_front(); }
    ::mlir::OperandRange getYielded() { return getBody().front().getTerminator()->getOperands(); }
    /// Whether the carried value is the same in each iteration.
    bool isInvariant(unsigned index) { return getYielded()[index] == getCarried()[index]; }
  }];
}
def Weft_CaseOp : Weft_FlowOp<"case", [Differentiable]> {
  let summary = "runs one of its regions";
  let stablehlo = "case, if";
  let derivative = "through the region that ran, whose values are computed again";
  let description = [{
    `%y = weft.case %p(%x) : tensor<i1>, (tensor<8xf32>) -> tensor<8xf32> {...}, {...}`:
    an i1 chooses the first region where it is true, else the second (`if`). An
    integer counts regions from 0; outside it chooses the last (`case`).
    (C1) the selector is one i1, with two regions, or one i32; (C2) every region
    takes the inputs and yields the results.
  }];
  let arguments = (ins Weft_Tensor:$selector, Variadic<Weft_Tensor>:$inputs);
  let results = (outs Variadic<Weft_Tensor>:$results);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let assemblyFormat = "$selector `(` $inputs `)` attr-dict `:` type($selector) `,` functional-type($inputs, $results) $branches";
  let hasRegionVerifier = 1;
}

def Weft_CheckpointOp : Weft_FlowOp<"checkpoint", [Differentiable]> {
  let summary = "a region whose values are computed again for its derivative";
  let stablehlo = "optimization_barrier, as jax.checkpoint leaves it";
  let factors = "";
  let derivative = "of its region, run again after an optimization_barrier";
  let description = [{
    `%y = weft.checkpoint(%x) : (tensor<8xf32>) -> tensor<8xf32> {...}`. Nothing
    but the inputs is kept until the derivative; differentiation removes the op.
    (C1) the region takes the inputs and yields the results.
  }];
  let arguments = (ins Variadic<Weft_Tensor>:$inputs);
  let results = (outs Variadic<Weft_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $inputs `)` attr-dict `:` functional-type($inputs, $results) $body";
}

def Weft_OptimizationBarrierOp : Weft_ShardedOp<"optimization_barrier", [Differentiable]> {
  let summary = "the same values, which nothing in front of it is joined with";
  let description = [{
    `%a, %b = weft.optimization_barrier %x, %y : tensor<4xf32>, tensor<8xf32>`:
    values computed from it are not found equal to those computed from %x.
    (C1) the results have the operands' types but for their layouts.
  }];
  let arguments = (ins Variadic<Weft_Tensor>:$inputs);
  let results = (outs Variadic<Weft_Tensor>:$results);
  let assemblyFormat = "$inputs attr-dict `:` type($inputs) `->` type($results)";
  let hasVerifier = 1;
}

// --- per device ------------------------------------------------------------------
def Weft_ManualOp : Weft_Op<"manual", [DeclareOpInterfaceMethods<FixedLayoutsOpInterface, ["getFreeAxes"]>, RecursiveMemoryEffects, IsolatedFromAbove, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "code of each device on its blocks, communication included";
  let stablehlo = "sdy.manual_computation (shard_map)";
  let factors = "none: layouts are said";
  let derivative = "none: refused by name; JAX differentiates before";
  let description = [{
        %y = weft.manual(%x) from [#rows] to [#whole] : (tensor<8x4xf32>) -> tensor<2x4xf32> {
        ^bb0(%block: tensor<2x4xf32>):       // #rows: [x] on x=4
          %s = coll.all_reduce sum %block over #mesh ["x"] : tensor<2x4xf32>
          weft.yield %s : tensor<2x4xf32>
        }

    Each device of the mesh runs the region on its block of each operand, and
    yields its block of each result. Devices that hold copies of a
    result must yield the same. Of an operand whose layout is partial a device
    gets its summand, and it yields its summand of such a result.

    Along axes that are left free, as "y" by

        %y = weft.manual(%x) from [#rows] to [#rows] free ["y"] : ...

    the region is a program of whole values: propagation lays its values out
    over "y", and partitioning makes each device's part of it.
    (C1) one layout for each operand and result, of its rank, all
    over one mesh; (C2) all blocks are full; (C3) the region takes and yields
    blocks; (C4) a type with a layout has the stated layout, followed by
    the free axes that the region's value has; (C5) a weft.manual inside has
    axes that this one leaves free; (C6) free axes are axes of the mesh that
    no layout uses.
  }];
  let arguments = (ins Variadic<Weft_Tensor>:$inputs, TypedArrayAttrBase<Weft_LayoutAttr, "layouts">:$from, TypedArrayAttrBase<Weft_LayoutAttr, "layouts">:$to, OptionalAttr<StrArrayAttr>:$free);
  let results = (outs Variadic<Weft_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $inputs `)` `from` $from `to` $to (`free` $free^)? attr-dict `:` functional-type($inputs, $results) $body";
  let extraClassDeclaration = [{
    /// The mesh of all layouts; null if there are none.
    ::weft::MeshAttr getMesh();
    /// The stated layouts, without free axes.
    ::weft::Layout fromLayout(unsigned operand);
    ::weft::Layout toLayout(unsigned result);
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Weft_AtOp : Weft_FlowOp<"at"> {
  let summary = "code that only the devices of a part of the mesh run";
  let stablehlo = "";
  let factors = "none: of local values only";
  let derivative = "";
  let description = [{
        %y = weft.at #mesh {"branch" = 1} (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
        ^bb0(%v: tensor<4x8xf32>): ...
          weft.yield %w : tensor<4x8xf32>
        }

    Partitioning makes it of ops whose layouts are `at = {"branch" = 1}`. Other
    devices skip it and have no results; their operands are not read.
    (C1) the part is not the whole mesh; (C2) the region ends with weft.yield.
  }];
  let arguments = (ins Weft_LayoutAttr:$place, Variadic<Weft_Tensor>:$inputs);
  let results = (outs Variadic<Weft_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "custom<Place>($place) `(` $inputs `)` attr-dict `:` functional-type($inputs, $results) $body";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The attribute of a part of the mesh: a layout without dimensions.
    static ::weft::LayoutAttr placeOn(::weft::MeshAttr mesh, const ::weft::MeshPart &part);
    ::weft::MeshPart getPart() { return getPlace().getLayout().part; }
  }];
}

// --- ends of regions ---------------------------------------------------------
def Weft_YieldOp : Weft_Op<"yield", [Pure, ReturnLike, Terminator, ParentOneOf<["WhileOp", "ForOp", "CaseOp", "CheckpointOp", "ManualOp", "AtOp", "FoldOp", "MoveOp"]>]> {
  let summary = "the values that a region passes on";
  let stablehlo = "return";
  let factors = "";
  let arguments = (ins Variadic<Weft_Tensor>:$values);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}
def Weft_ConditionOp : Weft_Op<"condition", [Pure, Terminator, HasParent<"WhileOp">, DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface>]> {
  let summary = "whether a loop goes on, and the values that it passes on";
  let stablehlo = "return of a while's condition";
  let factors = "";
  let description = [{ (C1) the condition is tensor<i1>. }];
  let arguments = (ins Weft_Tensor:$condition, Variadic<Weft_Tensor>:$values);
  let assemblyFormat = "$condition `(` $values `)` attr-dict `:` type(operands)";
  let hasVerifier = 1;
}

#endif // WEFT_DIALECTS_WEFT_FLOWOPS
