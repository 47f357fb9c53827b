//===- MovementOps.td - ops that move elements -------------------------------//

#ifndef WEFT_DIALECTS_WEFT_MOVEMENTOPS
#define WEFT_DIALECTS_WEFT_MOVEMENTOPS

include "weft/dialects/weft/OpClasses.td"

defvar Moved = DeclareOpInterfaceMethods<MovedBoxesOpInterface>;

def Weft_BroadcastOp : Weft_ShardedOp<"broadcast", [Moved, AllElementTypesMatch<["input", "result"]>, Differentiable, MovesElements, DeclareOpInterfaceMethods<KernelOpInterface, ["getElementsReadElsewhere"]>]> {
  let summary = "repeats along new dimensions";
  let stablehlo = "broadcast_in_dim";
  let description = [{
    `%r = weft.broadcast %b dims [1] : tensor<10xf32> -> tensor<16x10xf32>`:
    dimension i of the input is dimension dims[i] of the result.
    (C1) one entry for each input dimension; (C2) entries rise and lie in the
    result's rank; (C3) sizes are equal.
  }];
  let arguments = (ins Weft_Tensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$shape, "::llvm::ArrayRef<int64_t>":$dims)>];
  let hasFolder = 1;
  let assemblyFormat = "$input `dims` $dims attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}
def Weft_TransposeOp : Weft_ShardedOp<"transpose", [Moved, AllElementTypesMatch<["input", "result"]>, Differentiable, MovesElements]> {
  let summary = "result dimension i is input dimension permutation[i]";
  let arguments = (ins Weft_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$permutation)>];
  let assemblyFormat = "$input $permutation attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1; // (C1) a permutation of the rank; (C2) shapes agree
  let hasFolder = 1;
}
def Weft_ReshapeOp : Weft_PositionedOp<"reshape", [DeclareOpInterfaceMethods<MovedBoxesOpInterface, ["getMovedParts"]>, AllElementTypesMatch<["input", "result"]>, Differentiable, MovesElements]> {
  let summary = "the same elements in row-major order in another shape";
  let factors = "pass, shift";
  let arguments = (ins Weft_Tensor:$input);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$shape)>];
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1; // (C1) input and result have the same number of elements
  let hasFolder = 1;
}
def Weft_SliceOp : Weft_PositionedOp<"slice", [Moved, AllElementTypesMatch<["input", "result"]>, Differentiable, MovesElements]> {
  let summary = "elements start, start+stride, ... below limit of each dimension";
  let factors = "pass, shift";
  let arguments = (ins Weft_Tensor:$input, DenseI64ArrayAttr:$start, DenseI64ArrayAttr:$limit, DenseI64ArrayAttr:$stride);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$start, "::llvm::ArrayRef<int64_t>":$limit, "::llvm::ArrayRef<int64_t>":$stride)>];
  let assemblyFormat = "$input `from` $start `to` $limit `by` $stride attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1; // (C1) one entry for each dimension; (C2) 0 <= start <= limit <= size, stride > 0; (C3) the result's shape follows
}
def Weft_PadOp : Weft_PositionedOp<"pad", [Moved, AllElementTypesMatch<["input", "result"]>, Differentiable, DeclareOpInterfaceMethods<PlacesBlockOpInterface>]> {
  let summary = "a value before, after and between the elements of each dimension";
  let factors = "pass, shift";
  let description = [{
    `%p = weft.pad %x with %v low [1] high [-2] interior [1] : tensor<4xf32>, tensor<f32> -> tensor<6xf32>`;
    without a value zeros are put there. Negative amounts take elements away.
    The adjoint of `slice`.
    (C1) one entry for each dimension; (C2) interior is not negative; (C3) the
    result's shape follows; (C4) the value is one element of the input's type.
  }];
  let arguments = (ins Weft_Tensor:$input, Optional<Weft_Tensor>:$value, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$interior);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$low, "::llvm::ArrayRef<int64_t>":$high, "::llvm::ArrayRef<int64_t>":$interior, CArg<"::mlir::Value", "{}">:$value)>];
  let assemblyFormat = "$input (`with` $value^)? `low` $low `high` $high `interior` $interior attr-dict `:` type($input) (`,` type($value)^)? `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def Weft_ConcatenateOp : Weft_PositionedOp<"concatenate", [Moved, Differentiable]> {
  let summary = "tensors one after the other along a dimension";
  let factors = "pass, shift";
  let arguments = (ins Variadic<Weft_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$inputs `dim` $dim attr-dict `:` functional-type($inputs, $result)";
  let hasVerifier = 1; // (C1) at least one input; (C2) other dimensions agree; (C3) sizes along dim add up
}
def Weft_ReverseOp : Weft_PositionedOp<"reverse", [Moved, AllElementTypesMatch<["input", "result"]>, AllShapesMatch<["input", "result"]>, Differentiable, MovesElements]> {
  let summary = "elements of some dimensions in the opposite order";
  let factors = "pass, shift";
  let arguments = (ins Weft_Tensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$dims), [{ build($_builder, $_state, input.getType(), input, dims); }]>];
  let assemblyFormat = "$input `dims` $dims attr-dict `:` custom<UnaryTypes>(type($input), type($result))";
  let hasVerifier = 1; // (C1) dims are ascending and in the rank
  let hasFolder = 1;
}
def Weft_RollOp : Weft_PositionedOp<"roll", [Moved, AllElementTypesMatch<["input", "result"]>, AllShapesMatch<["input", "result"]>, Differentiable, MovesElements]> {
  let summary = "element i of a dimension of n goes to position (i + shift) mod n";
  let stablehlo = "concatenate of two slices";
  let factors = "pass, shift";
  let description = [{
    `%r = weft.roll %x by [1, 0] : tensor<4x8xf32>`, as jnp.roll; shifts may be
    negative or larger than the dimension.
  }];
  let arguments = (ins Weft_Tensor:$input, DenseI64ArrayAttr:$shift);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$shift), [{ build($_builder, $_state, input.getType(), input, shift); }]>];
  let assemblyFormat = "$input `by` $shift attr-dict `:` custom<UnaryTypes>(type($input), type($result))";
  let hasVerifier = 1; // (C1) one entry for each dimension
  let hasFolder = 1;
}
def Weft_DynamicSliceOp : Weft_PositionedOp<"dynamic_slice", [Moved, AllElementTypesMatch<["input", "result"]>, Differentiable]> {
  let summary = "a block that starts where operands say, moved inside the input where it sticks out";
  let factors = "pass, lookup";
  let description = [{
    `%s = weft.dynamic_slice %x at (%i, %j) : (tensor<8x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x6xf32>`.
    A start is clamped to [0, size - result size] of the global dimension.
    (C1) one start of an integer type for each dimension; (C2) no dimension of
    the result is larger than the input's.
  }];
  let arguments = (ins Weft_Tensor:$input, Variadic<Weft_Tensor>:$starts);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::mlir::ValueRange":$starts, "::llvm::ArrayRef<int64_t>":$sizes)>];
  let assemblyFormat = "$input `at` `(` $starts `)` attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}
def Weft_DynamicUpdateSliceOp : Weft_PositionedOp<"dynamic_update_slice", [Moved, AllElementTypesMatch<["input", "update", "result"]>, AllShapesMatch<["input", "result"]>, Differentiable, DeclareOpInterfaceMethods<PlacesBlockOpInterface>]> {
  let summary = "the input with a block replaced, which starts where operands say and is moved inside";
  let factors = "pass, lookup";
  let description = [{
    `%u = weft.dynamic_update_slice %x, %b at (%i, %j) : (tensor<8x6xf32>, tensor<2x6xf32>, tensor<i32>, tensor<i32>) -> tensor<8x6xf32>`.
    (C1) one start of an integer type for each dimension; (C2) the update has
    the input's rank and is no larger in any dimension.
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Tensor:$update, Variadic<Weft_Tensor>:$starts);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::mlir::Value":$update, "::mlir::ValueRange":$starts), [{ build($_builder, $_state, input.getType(), input, update, starts); }]>];
  let assemblyFormat = "$input `,` $update `at` `(` $starts `)` attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

def Weft_MoveOp : Weft_PositionedOp<"move", [Moved, IsolatedFromAbove, RecursiveMemoryEffects]> {
  let summary = "boxes of the result from elements of operands: what a chain of moving ops moves";
  let stablehlo = "";
  let factors = "pass, shift, select";
  let derivative = "none: formed after differentiation";
  let description = [{
        %r = weft.move %x boxes <[0:2] of 0 at [d0 + 6], [2:8] of 0 at [d0]> : (tensor<8xf32>) -> tensor<10xf32> {
        ^bb0(%a: tensor<8xf32>):
          %b = weft.slice %a from [6] to [8] by [1] : tensor<8xf32> -> tensor<2xf32>
          %c = weft.concatenate %b, %a dim 0 : (tensor<2xf32>, tensor<8xf32>) -> tensor<10xf32>
          weft.yield %c : tensor<10xf32>
        }

    a periodic border of two elements. Elements of the result in no box are 0; a
    scalar operand fills its boxes. The region has the ops that the op was made of
    and takes its place where no dimension is sharded along which elements move.
    With `resharding` the op is also the movement between the layouts of its
    operands and of its result, which are independent of each other.
    (C1) at least one operand and one box; (C2) operands have the result's element
    type; (C3) each box is of an operand, fits in it and in the result and fills
    no element of another one; (C4) the region takes the operands, yields the
    result's type and holds moving ops and constants only.
  }];
  let arguments = (ins Variadic<Weft_Tensor>:$inputs, Weft_BoxesAttr:$boxes, UnitAttr:$resharding);
  let results = (outs Weft_Tensor:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$inputs (`resharding` $resharding^)? `boxes` $boxes attr-dict `:` functional-type($inputs, $result) $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // WEFT_DIALECTS_WEFT_MOVEMENTOPS
