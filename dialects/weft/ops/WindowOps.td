//===- WindowOps.td - convolution and pooling --------------------------------//

#ifndef WEFT_DIALECTS_WEFT_WINDOWOPS
#define WEFT_DIALECTS_WEFT_WINDOWOPS

include "weft/dialects/weft/OpClasses.td"

def Weft_ConvolutionOp : Weft_PositionedOp<"convolution", [AccumulatesOpInterface, Differentiable, OwnLoopNest, DeclareOpInterfaceMethods<KernelOpInterface, ["getWork"]>]> {
  let summary = "sums of products of a kernel with each window of the input";
  let factors = "pass, reduce, window";
  let description = [{
    `%y = weft.convolution %x, %w {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>,
         strides = array<i64: 2, 2>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>}
         : tensor<8x32x32x3xf32>, tensor<3x3x3x16xf32> -> tensor<8x16x16x16xf32>`.

    The lists name the dimensions: batch, feature, then the spatial ones
    in lhs and result; output feature, input feature, then the spatial ones in
    rhs. StableHLO's window_reversal is a `reverse` of rhs. Output p of a spatial
    dimension is the sum over k of input p * stride + k * window_dilation - low,
    where that is a multiple of base_dilation, divided by it: a transposed
    convolution has base_dilation = its strides. With feature_groups groups of
    output features see only their input features; with batch_groups each sees
    its part of the batch. Padding may be negative. The result's element type and
    `precision` are as in dot.
    (C1) the lists name each dimension once; (C2) there is one entry for each
    spatial dimension, strides and dilations are at least 1; (C3) groups divide
    features and batch, one of the two kinds is 1; (C4) input features of rhs
    agree with lhs, and the result's shape follows; (C5) the result's element
    type has all numbers of the operands'.
  }];
  let arguments = (ins Weft_Tensor:$lhs, Weft_Tensor:$rhs, DenseI64ArrayAttr:$lhs_dims, DenseI64ArrayAttr:$rhs_dims, DenseI64ArrayAttr:$result_dims,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$base_dilation, DenseI64ArrayAttr:$window_dilation,
                       DefaultValuedAttr<I64Attr, "1">:$feature_groups, DefaultValuedAttr<I64Attr, "1">:$batch_groups,
                       DefaultValuedAttr<Weft_PrecisionAttr, "::weft::Precision::Default">:$precision);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs (`precision` $precision^)? attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::weft::WindowList getWindows();
  }];
}

def Weft_ReduceWindowOp : Weft_PositionedOp<"reduce_window", [DeclareOpInterfaceMethods<AccumulatesOpInterface, ["accumulates"]>, Differentiable, OwnLoopNest]> {
  let summary = "combines the elements of each window; elements outside are neutral";
  let factors = "pass, window";
  let derivative = "of sum; of max and min without dilation, to the first that ties";
  let description = [{
    `%y = weft.reduce_window max %x {window = array<i64: 1, 2, 2, 1>, strides = array<i64: 1, 2, 2, 1>, low = array<i64: 0, 0, 0, 0>, high = ..., base_dilation = ..., window_dilation = ...}
         : tensor<8x32x32x3xf32> -> tensor<8x16x16x3xf32>`: entries as in convolution, for every dimension.
    (C1) one entry for each dimension; (C2) windows, strides and dilations are
    at least 1; (C3) the result's shape follows; (C4) complex numbers have sums
    and products only; (C5) the result's element type is as in reduce.
  }];
  let arguments = (ins Weft_ReduceKindAttr:$kind, Weft_Tensor:$input, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$base_dilation, DenseI64ArrayAttr:$window_dilation);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "`` $kind $input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::weft::WindowList getWindows();
  }];
}

def Weft_SelectAndScatterOp : Weft_PositionedOp<"select_and_scatter", [AllElementTypesMatch<["input", "source", "result"]>, AllShapesMatch<["input", "result"]>, Differentiable, OwnLoopNest]> {
  let summary = "adds each source element where the first largest (ge) or smallest (le) of its window is";
  let factors = "pass, window";
  let derivative = "of the source: none yet";
  let description = [{
    The adjoint of reduce_window with max or min:
    `%g = weft.select_and_scatter ge %x, %dy {window = array<i64: 2>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>}
         : tensor<8xf32>, tensor<4xf32> -> tensor<8xf32>`. Elements that receive nothing are 0.
    (C1) one entry for each dimension; (C2) windows and strides are at least 1;
    (C3) the source has the shape of the windows; (C4) it selects with ge or le.
  }];
  let arguments = (ins Weft_CompareKindAttr:$select, Weft_RealTensor:$input, Weft_Tensor:$source, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "`` $select $input `,` $source attr-dict `:` type($input) `,` type($source) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::weft::WindowList getWindows();
  }];
}

#endif // WEFT_DIALECTS_WEFT_WINDOWOPS
