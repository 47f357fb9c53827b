//===- FoldOps.td - reductions by a given body -------------------------------//

#ifndef WEFT_DIALECTS_WEFT_FOLDOPS
#define WEFT_DIALECTS_WEFT_FOLDOPS

include "weft/dialects/weft/OpClasses.td"

def Weft_FoldOp : Weft_PositionedOp<"fold", [AttrSizedOperandSegments, IsolatedFromAbove, SingleBlock, OwnLoopNest]> {
  let summary = "combines the elements of several tensors along dimensions, by a region";
  let stablehlo = "reduce with any body, of several operands";
  let factors = "pass, select";
  let derivative = "none: refused by name, see `reduce`";
  let description = [{
        %m, %c = weft.fold %x, %y from %one, %zero dims [1] : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
        ^bb0(%a: tensor<f32>, %b: tensor<f32>, %d: tensor<f32>, %e: tensor<f32>):
          %p = weft.mul %a, %d : tensor<f32>
          ...
          weft.yield %p, %q : tensor<f32>, tensor<f32>
        }

    The region takes an element of each of the n tensors on the left, then one
    of each on the right, and yields the combined elements. Elements keep their
    order, row-major, so that the body need not commute; it should be
    associative, and `from` leave everything as it is: as in StableHLO, both may
    be used in any nesting and any number of times.
    (C1) as many inits and results as tensors, at least one, which have one
    shape; (C2) dims rise and lie in the rank; (C3) inits are scalars of the
    tensors' elements, results have the other dimensions; (C4) the region takes
    two scalars for each tensor and ends with a weft.yield of one for each; (C5)
    it holds elementwise ops and constants only.
  }];
  let arguments = (ins Variadic<Weft_Tensor>:$inputs, Variadic<Weft_Tensor>:$inits, DenseI64ArrayAttr:$dims);
  let results = (outs Variadic<Weft_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$inputs, "::mlir::ValueRange":$inits, "::llvm::ArrayRef<int64_t>":$dims)>];
  let assemblyFormat = "$inputs `from` $inits `dims` $dims attr-dict `:` functional-type(operands, $results) $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // WEFT_DIALECTS_WEFT_FOLDOPS
