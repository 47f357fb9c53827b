//===- Nest.td - the loop nests of a kernel ----------------------------------//
//
// RATIONALE.md has the reasons for this form.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_NEST_NEST
#define WEFT_DIALECTS_NEST_NEST

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Nest_Dialect : Dialect {
  let name = "nest";
  let cppNamespace = "::weft::nest";
  let summary = "The loop nests of kernels, and all decisions about them.";
  let description = [{
    A kernel at the stage `nests` is a list of `nest.loops`. Each says how its
    loops walk, which values they compute and store, and where. Nothing
    is left for a code generator to decide.
  }];
  let dependentDialects = ["::weft::coll::CollDialect", "::weft::WeftDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

//===----------------------------------------------------------------------===//
// Walks
//===----------------------------------------------------------------------===//

def Nest_WalkAttrInterface : AttrInterface<"WalkAttrInterface"> {
  let cppNamespace = "::weft::nest";
  let description = [{ How the loops of a nest walk over its values. }];
  let methods = [
    InterfaceMethod<[{
      Success where the ops of the nest can be computed by this walk; an error
      that names both values on the nest otherwise.
    }], "::llvm::LogicalResult", "verifyWalk",
      (ins "::mlir::Operation *":$loops)>,
    InterfaceMethod<[{
      Why the loops cannot go on with `epilogue`, computed of the result `sums`
      of `op`, before they store; empty where they can (Epilogue.h).
    }], "std::string", "refuseEpilogue",
      (ins "::mlir::Operation *":$op, "::mlir::Value":$sums,
           "::llvm::ArrayRef<::mlir::Value>":$epilogue, "bool":$storesSums,
           "::llvm::function_ref<bool(::mlir::Value)>":$isInMemory),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return "its loops compute nothing behind the op";
      }]>,
    InterfaceMethod<[{
      Bytes of memory that the loops use besides the stored values.
    }], "int64_t", "getWorkingBytes", (ins "::mlir::Operation *":$loops),
      /*methodBody=*/"", /*defaultImplementation=*/[{ return 0; }]>,
  ];
}

class Nest_Attr<string cppName, string mnemonicOf, list<Trait> traits = []>
    : AttrDef<Nest_Dialect, cppName, traits> {
  let mnemonic = mnemonicOf;
}
class Nest_Walk<string cppName, string mnemonicOf, list<string> methods = ["verifyWalk"]>
    : Nest_Attr<cppName, mnemonicOf, [DeclareAttrInterfaceMethods<Nest_WalkAttrInterface, methods>]>;

class Nest_Enum<string name, list<I32EnumAttrCase> cases> : I32EnumAttr<name, "", cases> {
  let cppNamespace = "::weft::nest";
  let genSpecializedAttr = 0;
}

def Nest_ElementOrder : Nest_Enum<"ElementOrder", [
  I32EnumAttrCase<"Dimensions", 0, "dimensions">,
  I32EnumAttrCase<"Flat", 1, "flat">]>;
def Nest_ElementsAttr : Nest_Walk<"Elements", "elements"> {
  let summary = "over the elements of results of one shape";
  let description = [{
    `#nest.elements<dimensions>`: a loop for each dimension of the results;
    `#nest.elements<flat>`: one loop over row-major positions. Each element of
    each result is computed and stored once, after all loads for its position.
    `#nest.elements<flat, side = 4>`: a thread of a GPU computes four that are
    side by side, so that it loads and stores 16 bytes at once.
  }];
  let parameters = (ins EnumParameter<Nest_ElementOrder>:$order, DefaultValuedParameter<"int64_t", "1">:$side);
  let assemblyFormat = "`<` $order (`,` `side` `=` $side^)? `>`";
}

def Nest_TransposedAttr : Nest_Walk<"Transposed", "transposed", ["verifyWalk", "getWorkingBytes"]> {
  let summary = "over tiles of elements, some of whose operands are transposed";
  let description = [{
    `#nest.transposed<along = 0>`: as over elements, but a block of threads takes
    a tile of 32 positions of dimension 0 by 32 of the last. Operands that
    are contiguous along dimension 0 are read in that order, which joins the
    loads of neighbouring threads, and go through shared memory; a run there has
    33 elements, so that its columns are in different banks. TransposedWalk.h
    has an example. A CPU walks over such tiles, so that every line of a cache
    that it loads is used before it is gone, and transposes them in registers.
  }];
  let parameters = (ins "int64_t":$along);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Nest_Accumulate : Nest_Enum<"Accumulate", [
  I32EnumAttrCase<"Register", 0, "register">,
  I32EnumAttrCase<"Row", 1, "row">]>;
def Nest_ReductionAttr : Nest_Walk<"Reduction", "reduction", ["verifyWalk", "getWorkingBytes"]> {
  let summary = "combines elements along dimensions";
  let description = [{
    `register`: an element of the result is combined in a register; `row`: rows
    of the operand are added to a row of the result in memory, where the
    innermost dimension is kept. `blocks` cuts the reduced dimensions: the
    elements of one block are combined first, which keeps a long sum exact. Of a
    row, the blocks are ones, then one length, then whole dimensions.
  }];
  let parameters = (ins EnumParameter<Nest_Accumulate>:$into, OptionalArrayRefParameter<"int64_t">:$blocks);
  let assemblyFormat = "`<` $into (`,` `blocks` `[` $blocks^ `]`)? `>`";
}

def Nest_RowsAttr : Nest_Walk<"Rows", "rows"> {
  let summary = "over rows, each with its reductions";
  let description = [{
    `#nest.rows<dims = 1, lanes = 32>`: the first dimension numbers the rows. So
    many lanes share a row: they combine their partial results, and then all
    have every reduction of the row. `held = 8`: each lane keeps the 8 columns
    in registers that it takes of a row, so that these are read once; 0: it
    reads them for each reduction again, and with `together = 8` it reads eight
    before it waits for the first. `side = 4`: of those that it keeps, four are
    side by side.
  }];
  let parameters = (ins "int64_t":$dims, "int64_t":$lanes, DefaultValuedParameter<"int64_t", "0">:$held,
      DefaultValuedParameter<"int64_t", "1">:$side, DefaultValuedParameter<"int64_t", "1">:$together);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Nest_SumsAttr : Nest_Walk<"Sums", "sums"> {
  let summary = "over the elements of one result, each combined from terms";
  let description = [{
    `#nest.sums<block = 28>`: an element of a contraction or reduction is
    combined by one thread, term by term; the terms of a block are combined
    first, which keeps a long sum exact; with `block = 0` there are no blocks.
    Elementwise ops in front are computed for each term, later ops on the
    sum. `lanes = 8`: eight threads share an element; each combines an eighth of
    the terms, and then they combine these sums. `side = 4`: a thread combines
    the terms of four elements that are side by side. `together = 8`: it reads
    eight terms before it waits for the first.
  }];
  let parameters = (ins "int64_t":$block, DefaultValuedParameter<"int64_t", "1">:$lanes,
      DefaultValuedParameter<"int64_t", "1">:$side, DefaultValuedParameter<"int64_t", "1">:$together);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Nest_Along : Nest_Enum<"Along", [
  I32EnumAttrCase<"Depth", 0, "depth">,
  I32EnumAttrCase<"Rows", 1, "rows">]>;
def Nest_StagingAttr : Nest_Attr<"Staging", "staging"> {
  let summary = "how an operand comes to shared memory";
  let description = [{
    `#nest.staging<depth, 16>`: a thread copies 16 bytes that are contiguous
    along the depth, and neighbours copy adjacent bytes; no thread waits for
    a copy until its stage is needed. `#nest.staging<rows, 0>`: elements are
    computed, or loaded one by one.
  }];
  let parameters = (ins EnumParameter<Nest_Along>:$along, "int64_t":$bytes);
  let assemblyFormat = "`<` $along `,` $bytes `>`";
}

def Nest_Multiplier : Nest_Enum<"Multiplier", [
  I32EnumAttrCase<"Fma", 0, "fma">,
  I32EnumAttrCase<"Half", 1, "half">,
  I32EnumAttrCase<"Tf32", 2, "tf32">]>;
def Nest_TilesAttr : Nest_Walk<"Tiles", "tiles"> {
  let summary = "over tiles of sums of products, whose operands are in shared memory";
  let description = [{
    A block of threads computes a tile of `block[0]` rows by `block[1]` columns,
    `block[2]` products of each sum at a time; each warp has `warp[0]` by
    `warp[1]` of them in registers. `stages` slices of the operands are in shared
    memory at once. Elementwise ops that follow are computed on a tile before it
    is stored. `fma` multiplies and adds f32; tensor cores multiply bf16 or f16
    (`half`), or f32 rounded to ten bits of mantissa (`tf32`). Products are
    added up in f32, in the order of the depth, for every tile: `fma` one
    after the other, `half` 16 at a time, `tf32` 8. TileWalk.h has an example.
    With `parts = 8` eight blocks share a tile: each adds up an eighth of the
    depth, and the nest stores these sums as nest.parts.
  }];
  let parameters = (ins EnumParameter<Nest_Multiplier>:$unit,
      ArrayRefParameter<"int64_t">:$block, ArrayRefParameter<"int64_t">:$warp, "int64_t":$stages,
      "::weft::nest::StagingAttr":$lhs, "::weft::nest::StagingAttr":$rhs, DefaultValuedParameter<"int64_t", "1">:$parts);
  let assemblyFormat = [{
    `<` $unit `,` `block` `[` $block `]` `,` `warp` `[` $warp `]` `,` `stages` `=` $stages `,`
    `lhs` `=` $lhs `,` `rhs` `=` $rhs (`,` `parts` `=` $parts^)? `>`
  }];
}

def Nest_ContractionForm : Nest_Enum<"ContractionForm", [
  I32EnumAttrCase<"Plain", 0, "plain">,
  I32EnumAttrCase<"Columns", 1, "columns">,
  I32EnumAttrCase<"Depth", 2, "depth">,
  I32EnumAttrCase<"Packed", 3, "packed">]>;
def Nest_ContractionAttr : Nest_Walk<"Contraction", "contraction", ["verifyWalk", "refuseEpilogue", "getWorkingBytes"]> {
  let summary = "multiplies and adds";
  let description = [{
    `plain`: a loop for each dimension. `columns`: a tile of rows by vectors of
    columns in registers. `depth`: a tile of rows by columns, whose vectors run
    along the contraction. `packed`: as `columns`, on operands that are copied in
    blocks of rows, columns and depth to where a tile reads them in order;
    elementwise ops that follow may be computed on a tile before it is stored.

    `#nest.contraction<packed, tile[14, 2], blocks[112, 512, 256]>`
  }];
  let parameters = (ins EnumParameter<Nest_ContractionForm>:$form,
      OptionalArrayRefParameter<"int64_t">:$tile, OptionalArrayRefParameter<"int64_t">:$blocks);
  let assemblyFormat = "`<` $form (`,` `tile` `[` $tile^ `]`)? (`,` `blocks` `[` $blocks^ `]`)? `>`";
}

def Nest_ConvolutionLanes : Nest_Enum<"ConvolutionLanes", [
  I32EnumAttrCase<"Outputs", 0, "outputs">,
  I32EnumAttrCase<"Inputs", 1, "inputs">,
  I32EnumAttrCase<"Channels", 2, "channels">]>;
def Nest_ConvolutionAttr : Nest_Walk<"Convolution", "convolution", ["verifyWalk", "getWorkingBytes"]> {
  let summary = "multiplies and adds over a window";
  let description = [{
    A tile of places along dimension `along` of the result, by features, is in
    registers. Lanes of a vector are features of the output, of the input, or
    channels (each has one of both). `copies_kernel` and `copies_sample`: that
    operand is converted to the result's type once, the sample for each.
    `copies_panels`: the kernel's columns of a tile are copied side by side, in
    the order in which they are read, and all places are walked with them.
    `sums_apart`: each round of the outermost loop over products is summed on its
    own, which keeps the rounding of a long sum small.

    `#nest.convolution<outputs, along 2, tile[6, 2] sums_apart = true>`
  }];
  let parameters = (ins EnumParameter<Nest_ConvolutionLanes>:$lanes, "int64_t":$along,
      ArrayRefParameter<"int64_t">:$tile, DefaultValuedParameter<"bool", "false">:$copiesKernel,
      DefaultValuedParameter<"bool", "false">:$copiesSample, DefaultValuedParameter<"bool", "false">:$sumsApart,
      DefaultValuedParameter<"bool", "false">:$copiesPanels);
  let assemblyFormat = [{
    `<` $lanes `,` `along` $along `,` `tile` `[` $tile `]`
    (`copies_kernel` `=` $copiesKernel^)? (`copies_sample` `=` $copiesSample^)? (`sums_apart` `=` $sumsApart^)?
    (`copies_panels` `=` $copiesPanels^)? `>`
  }];
}

def Nest_OwnAttr : Nest_Walk<"Own", "own", ["verifyWalk", "getWorkingBytes"]> {
  let summary = "the loops of one op that has its own";
  let description = [{ A sort, a scatter, a window: the op defines its loops. }];
}

def Nest_UpdatesAttr : Nest_Walk<"Updates", "updates"> {
  let summary = "over parts of a scatter's result, each of a warp";
  let description = [{
    `#nest.updates<parts = 352, width = 128, side = 4>`: the positions along
    which updates may meet are divided into 352 parts; a warp owns 128 elements
    of each block in a part. It copies its part of the input and then takes all
    updates in order. A lane has four elements side by side. `together = 4`: it
    reads four indices before it waits for the first. UpdateWalk.h has an example.
  }];
  let parameters = (ins "int64_t":$parts, "int64_t":$width,
      DefaultValuedParameter<"int64_t", "1">:$side, DefaultValuedParameter<"int64_t", "1">:$together);
  let assemblyFormat = "`<` struct(params) `>`";
}

//===----------------------------------------------------------------------===//
// Memory and sharing
//===----------------------------------------------------------------------===//

def Nest_PlaceKind : Nest_Enum<"PlaceKind", [
  I32EnumAttrCase<"Result", 0, "result">,
  I32EnumAttrCase<"Scratch", 1, "scratch">,
  I32EnumAttrCase<"Planned", 2, "planned">]>;
def Nest_PlaceAttr : Nest_Attr<"Place", "place"> {
  let summary = "where a stored value is";
  let description = [{
    `#nest.place<result 0>`: in the memory of the kernel's first result;
    `#nest.place<scratch 128>`: from byte 128 of its scratch memory on;
    `#nest.place<planned 128>`: likewise, of the memory that the plan gives each
    launch.
  }];
  let parameters = (ins EnumParameter<Nest_PlaceKind>:$kind, "int64_t":$at);
  let assemblyFormat = "`<` $kind $at `>`";
}
def Nest_PlacesAttr : TypedArrayAttrBase<Nest_PlaceAttr, "places of stored values">;

def Nest_ShareAttr : Nest_Attr<"Share", "share"> {
  let summary = "how workers share a kernel";
  let description = [{
    `#nest.share<dim = 0, size = 1024, unit = 14, shares = 8>`: the 1024 positions
    of the first dimension of every nest's results are dealt out in units of 14,
    at least one unit a worker, among 8 workers at most. In a kernel of flat
    nests the positions are row-major ones. With `block = 4` a worker runs all
    nests for four of its positions before the next four, so that a value that a
    nest stores is in a cache when the next nest reads it.
  }];
  let parameters = (ins "int64_t":$dim, "int64_t":$size, "int64_t":$unit, "int64_t":$shares,
      DefaultValuedParameter<"int64_t", "0">:$block);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Nest_KernelAttr : Nest_Attr<"Kernel", "kernel"> {
  let summary = "decisions about a kernel as a whole";
  let description = [{
    `#nest.kernel<target = "cpu:avx2", scratch = 4096>`: nests are those for that
    target. `scratch` is memory of the kernel's own, on the stack of a worker, in
    bytes: first the values stored there, then the memory that loops need while
    they run. `planned` is memory of any size that the plan gives each launch:
    first the values that are too large for a stack, which all workers share;
    then the memory that loops need, for each share, if `scratch` has none
    after its values. `share` says how workers share the
    kernel. `reason` says why a kernel that must be one nest is several.
  }];
  let parameters = (ins StringRefParameter<>:$target, DefaultValuedParameter<"int64_t", "0">:$scratch,
      DefaultValuedParameter<"int64_t", "0">:$planned,
      OptionalParameter<"::weft::nest::ShareAttr">:$share, OptionalParameter<"::mlir::StringAttr">:$reason);
  let assemblyFormat = "`<` struct(params) `>`";
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

def Nest_LoopsOp : Op<Nest_Dialect, "loops", [SingleBlock, NoRegionArguments, RecursiveMemoryEffects]> {
  let summary = "one loop nest of a kernel";
  let description = [{
    ```mlir
    %0 = nest.loops #nest.elements<flat> to [#nest.place<result 0>] {
      %1 = weft.add %x, %y : tensor<16x8xf32>
      nest.store %1 : tensor<16x8xf32>
    } : tensor<16x8xf32>
    ```
    The body says which values are computed, the walk in which loops. A value of
    the body that is not stored is computed by element wherever it is read; a
    result of an earlier nest, or an argument, is loaded.

    (C1) A place and a stored value for each result, of its type. (C2) It stands
    in a kernel that has the attribute `nest.kernel`. (C3) The walk can compute
    the body.
  }];
  let arguments = (ins Nest_WalkAttrInterface:$walk, Nest_PlacesAttr:$places);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$walk `to` $places $body attr-dict (`:` type($results)^)?";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The values that the body stores, one for each result.
    ::mlir::OperandRange getStored();
    ::weft::nest::PlaceAttr getPlace(unsigned result) {
      return ::llvm::cast<::weft::nest::PlaceAttr>(getPlaces()[result]);
    }
    /// The op with its own loops (a reduction, a contraction, a sort), which
    /// is the first such op of the body; null in a nest of elements.
    ::mlir::Operation *getNestOp();
  }];
}

def Nest_PartsOp : Op<Nest_Dialect, "parts", [Pure]> {
  let summary = "partial sums of a value, along a new first dimension";
  let description = [{
    `%1 = nest.parts %0 : tensor<9x12xf32> -> tensor<64x9x12xf32>`: 64 tensors
    that add up to %0. Which terms are in which tensor is not part of the
    meaning: the walk of the nest says it. A second nest adds them up in order.

    (C1) The result has one more dimension than the operand, the first, of at
    least 2 parts; the other sizes and the element type, a float, are the same.
    (C2) It stands in a nest of tiles.
  }];
  let arguments = (ins AnyRankedTensor:$sums);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$sums `:` type($sums) `->` type($result) attr-dict";
  let hasVerifier = 1;
}

def Nest_StoreOp : Op<Nest_Dialect, "store", [Terminator, HasParent<"LoopsOp">]> {
  let summary = "the values that a nest stores";
  let description = [{ `nest.store %1, %2 : tensor<16xf32>, tensor<16xi1>` }];
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // WEFT_DIALECTS_NEST_NEST
