//===- Passes.td - passes that cut a program into kernels --------------------//

#ifndef WEFT_PASSES_KERNELS_PASSES
#define WEFT_PASSES_KERNELS_PASSES

include "mlir/Pass/PassBase.td"

def LowerControlFlow : Pass<"weft-lower-control-flow", "::mlir::ModuleOp"> {
  let summary = "leaves of loops and branches while and two-way case";
  let description = [{
    A `weft.for` becomes a `weft.while` that carries its counter and knows its
    trip count; a `weft.case` of several regions asks for one after the other; a
    `weft.optimization_barrier`, which has done its duty, goes.

    Requires: local ops (stage `partitioned`).

    Ensures: no `weft.for`, no `weft.case` on an integer, no barrier.

    Example: test/passes/lower-control-flow.mlir.

    ```mlir
    %y = weft.for 10 (%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
      %w = weft.add %v, %v : tensor<4xf32>
      weft.yield %w : tensor<4xf32>
    }
    ```
    becomes a `weft.while` that carries 0 and %x `times 10`.
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

def ScattersToSelects : Pass<"weft-scatters-to-selects", "::mlir::ModuleOp"> {
  let summary = "scatters with one update for an element are computed by element";
  let description = [{
    Where the dimension numbers of a scatter let one update reach an element, and
    its input is computed where it is needed, such as zeros, an element of the
    result is a comparison of its position with the index. Its readers then
    compute it, and it is never in memory: the gradient of a loss for each
    position of a text, of one-hot rows, is 3 GB for GPT-2. Nothing changes where
    kernels are no launches.

    Requires: local ops (stage `partitioned`).

    Ensures: the same results.

    Example: test/passes/scatters-to-selects.mlir.

    ```mlir
    %0 = weft.scatter sum %zero at %ids with %u {inserted_window_dims = array<i64: 1>, input_batching_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 1>, index_vector_dim = 1 : i64} : tensor<4x10xf32>, tensor<4x1xi32>, tensor<4xf32> -> tensor<4x10xf32>
    ```
    becomes
    ```mlir
    %0 = weft.iota dim 1 : tensor<4x10xi32>
    %2 = weft.compare eq %0, %ids_of_all : tensor<4x10xi32>, tensor<4x10xi32> -> tensor<4x10xi1>
    %3 = weft.add %zero, %u_of_all : tensor<4x10xf32>
    %4 = weft.select %2, %3, %zero : tensor<4x10xi1>, tensor<4x10xf32>, tensor<4x10xf32> -> tensor<4x10xf32>
    ```
  }];
  let options = [Option<"target", "target", "std::string", /*default=*/"\"cpu:generic\"",
                        "for which kernels are made; scatters change on cuda:*">];
  let dependentDialects = ["::weft::WeftDialect"];
  let statistics = [Statistic<"scatters", "scatters", "Scatters that became selects">];
}

def WidenShortSums : Pass<"weft-widen-short-sums", "::mlir::ModuleOp"> {
  let summary = "sums of bf16 and f16 are added up in f32";
  let description = [{
    Eight bits of mantissa stop counting at 256: contractions, convolutions and
    reductions of short floats have results of f32, which are rounded once.
    Where an operand is an exact conversion, its source is read instead: no f32
    copy of a weight is stored.

    Requires: local ops (stage `partitioned`).

    Ensures: no dot, convolution, or reduction by sum or product has a result of
    bf16 or f16, and none reads the result of a convert that was exact.

    Example: test/passes/widen-short-sums.mlir.

    ```mlir
    %0 = weft.reduce sum %x dims [0] : tensor<4096xbf16> -> tensor<bf16>
    ```
    becomes
    ```mlir
    %0 = weft.reduce sum %x dims [0] : tensor<4096xbf16> -> tensor<f32>
    %1 = weft.convert %0 : tensor<f32> -> tensor<bf16>
    ```
  }];
  let statistics = [Statistic<"widened", "widened", "Ops with a result of f32">,
                    Statistic<"unconverted", "unconverted", "Ops that read operands as they were before a convert">];
}

def ContractConvolutions : Pass<"weft-contract-convolutions", "::mlir::ModuleOp"> {
  let summary = "convolutions of one element a window become contractions";
  let description = [{
    Libraries multiply matrices. A convolution without groups is a contraction if
    each spatial dimension has windows of one element, or a single window that does not
    reach over an edge: 1x1 convolutions, their gradients, and layers whose kernel is
    as large as the image. Strides are a slice of the input; the gradient of a
    strided one is a product with zeros between its positions. Nothing changes for
    targets without libraries, for integers, and where the product would have
    the result's dimensions in another order (channels first).

    Requires: local ops (stage `partitioned`).

    Ensures: results of the same types and values.

    Example: test/passes/contract-convolutions.mlir.

    ```mlir
    %0 = weft.convolution %x, %w {base_dilation = array<i64: 1, 1>, high = array<i64: 0, 0>, lhs_dims = array<i64: 0, 3, 1, 2>, low = array<i64: 0, 0>, result_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, strides = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<8x14x14x256xf32>, tensor<1x1x256x64xf32> -> tensor<8x14x14x64xf32>
    ```
    becomes
    ```mlir
    %0 = weft.reshape %w : tensor<1x1x256x64xf32> -> tensor<256x64xf32>
    %1 = weft.dot %x, %0 contract [3] x [0] : tensor<8x14x14x256xf32>, tensor<256x64xf32> -> tensor<8x14x14x64xf32>
    ```
  }];
  let options = [Option<"target", "target", "std::string", /*default=*/"\"cpu:generic\"",
                        "for which kernels are made; convolutions change on cuda:*">];
  let dependentDialects = ["::weft::WeftDialect"];
  let statistics = [Statistic<"convolutions", "convolutions", "Convolutions that became contractions">];
}

def SumDepthwise : Pass<"weft-sum-depthwise", "::mlir::ModuleOp"> {
  let summary = "gradients of depthwise kernels become sums for many processors";
  let description = [{
    The gradient of a depthwise convolution's kernel is a convolution with a group
    for each channel. Its few elements are long sums, which one thread each would add up.
    Each position of the kernel becomes a reduction of products over batch
    and image, which all processors share. Products are those of the result's
    element type. Nothing changes where kernels are no launches, and above 128 positions.

    Requires: local ops (stage `partitioned`).

    Ensures: results of the same types; a sum of floats is rounded otherwise.

    Example: test/passes/sum-depthwise.mlir.
  }];
  let options = [Option<"target", "target", "std::string", /*default=*/"\"cpu:generic\"",
                        "for which kernels are made; gradients change on cuda:*">];
  let dependentDialects = ["::weft::WeftDialect"];
  let statistics = [Statistic<"gradients", "gradients", "Gradients that became sums">];
}

def AlignContractions : Pass<"weft-align-contractions", "::mlir::ModuleOp"> {
  let summary = "rows of large products begin at 16 bytes";
  let description = [{
    Libraries multiply matrices of f16 and bf16 several times faster if their rows
    begin at multiples of 16 bytes. Where the rows of a factor or of the result
    do not, as those of a vocabulary of 50,257 words, and the product is large, the
    factors get zeros up to the next multiple of 8 elements, and the result is a slice
    of the larger product. A factor is padded in the order that it has in memory, once
    for all products. Nothing changes for targets without libraries.

    Requires: local ops (stage `partitioned`).

    Ensures: results of the same types and values.

    Example: test/passes/align-contractions.mlir.

    ```mlir
    %0 = weft.dot %x, %w contract [1] x [0] : tensor<4096x768xbf16>, tensor<768x50257xbf16> -> tensor<4096x50257xbf16>
    ```
    becomes
    ```mlir
    %0 = weft.pad %w low [0, 0] high [0, 7] interior [0, 0] : tensor<768x50257xbf16> -> tensor<768x50264xbf16>
    %1 = weft.dot %x, %0 contract [1] x [0] : tensor<4096x768xbf16>, tensor<768x50264xbf16> -> tensor<4096x50264xbf16>
    %2 = weft.slice %1 from [0, 0] to [4096, 50257] by [1, 1] : tensor<4096x50264xbf16> -> tensor<4096x50257xbf16>
    ```
  }];
  let options = [Option<"target", "target", "std::string", /*default=*/"\"cpu:generic\"",
                        "for which kernels are made; contractions are aligned on cuda:*">];
  let dependentDialects = ["::weft::WeftDialect"];
  let statistics = [Statistic<"contractions", "contractions", "Contractions whose rows were aligned">];
}

def SplitReductions : Pass<"weft-split-reductions", "::mlir::ModuleOp"> {
  let summary = "long reductions become slices for many processors";
  let description = [{
    A block of threads reduces a long row, or 32 columns. A reduction of 64 Ki
    elements or more with fewer of these than the target has processors becomes two:
    of two slices for each processor, and of their results. Elementwise ops
    that only the reduction reads are computed on operands of the slices' shape.
    Each run adds in the same order. Of a CPU only those of 256 Ki elements with
    fewer than 8 results are divided, as workers share the rows of others.
    A reduction of dimensions of one element is a reshape, unless it is a sum of
    floats, which turns -0 into 0.

    Requires: local ops (stage `partitioned`).

    Ensures: results of the same types; a sum of floats is rounded otherwise.

    Example: test/passes/split-reductions.mlir.

    ```mlir
    %1 = weft.reduce sum %arg0 dims [0] : tensor<1048576xf32> -> tensor<f32>
    ```
    becomes, of 108 processors,
    ```mlir
    %0 = weft.reshape %arg0 : tensor<1048576xf32> -> tensor<256x4096xf32>
    %1 = weft.reduce sum %0 dims [1] : tensor<256x4096xf32> -> tensor<256xf32>
    %2 = weft.reduce sum %1 dims [0] : tensor<256xf32> -> tensor<f32>
    ```
  }];
  let options = [Option<"target", "target", "std::string", /*default=*/"\"cpu:generic\"",
                        "for which kernels are made; reductions are split on cuda:*">];
  let dependentDialects = ["::weft::WeftDialect"];
  let statistics = [Statistic<"reductions", "reductions", "Reductions that became two">];
}

def OutlineKernels : Pass<"weft-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "moves compute into kernel functions";
  let description = [{
    Requires: functions of local weft ops and coll ops (stage `scheduled`) after
    --weft-lower-control-flow.

    Ensures: such a function, and each region of a loop or branch in it, holds
    only calls of kernels, communicating coll ops, loops, branches and constants
    that these or the return need. A kernel is a private
    function with the attribute `weft.kernel`:

      * `elementwise`: results of one shape, computed in one loop nest in which
        all loads of an element come before its stores, so a result may take
        over the memory of an argument of its type;
      * `dot`: one contraction and the elementwise ops on its result;
      * `reduce`: reductions and the elementwise ops that they read;
      * `general`: anything else.

    Where a kernel is one launch, reductions are grouped with the ops
    that one walk over their rows can compute. Where the target has a library, a
    contraction that it computes is followed only by ops for which the library has
    an epilogue, a conversion to fewer bytes included; the other ops are a
    separate kernel. An operand that no library can address is stored by a kernel
    in the order of the contraction, if this and the call take less time than
    generated code. A kernel computes each of its values at no more than eight
    positions: if more positions would read a value, the kernel is cut after it.

    Example: test/passes/outline-kernels.mlir.

    ```mlir
    %0 = weft.mul %g, %lr : tensor<4xf32>
    %1 = weft.sub %p, %0 : tensor<4xf32>
    ```
    becomes
    ```mlir
    %0 = call @elementwise_mul_sub_4(%g, %lr, %p) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let options = [Option<"target", "target", "std::string", /*default=*/"\"cpu:generic\"",
                        "for which kernels are made, as cpu:avx2 or cuda:sm_90a: dialects/nest/TargetLimits.cpp">];
  let dependentDialects = ["::weft::nest::NestDialect", "::weft::plan::PlanDialect"];
  let statistics = [Statistic<"kernels", "kernels", "Kernels made">,
                    Statistic<"cuts", "cuts", "Kernels cut so that no value is computed too often">];
}

def DeduplicateKernels : Pass<"weft-deduplicate-kernels", "::mlir::ModuleOp"> {
  let summary = "keeps one of several equal kernels";
  let description = [{
    Requires: kernel functions (`weft.kernel`) that are only called.

    Ensures: no two kernels have the same signature, attributes and body; calls
    go to the first of each.

    Example: test/passes/deduplicate-kernels.mlir.

    ```mlir
    %0 = call @elementwise_exp_4(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = call @elementwise_exp_4_0(%0) : (tensor<4xf32>) -> tensor<4xf32>
    ```
    becomes
    ```mlir
    %0 = call @elementwise_exp_4(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = call @elementwise_exp_4(%0) : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let statistics = [Statistic<"removed", "removed", "Kernels that were equal to another">];
}

def ChooseLibraries : Pass<"weft-choose-libraries", "::mlir::ModuleOp"> {
  let summary = "says which kernels a library of the device may compute";
  let description = [{
    For GPUs a kernel that is one contraction of floats, of 65,536 multiply-adds
    or more, gets the call of a library that computes the same as data
    (`plan.library`). The kernel keeps its body: that is its meaning, and its
    code runs where no library is found. The ops that may follow the contraction
    are the table of passes/kernels/LibraryEpilogues.cpp. Operands are matrices,
    views and batches of them included, of which neighbours of one dimension are
    side by side in memory. Of the ways to call the library for several batch
    dimensions, that with the fewest calls is taken.

    Requires: kernel functions (`weft.kernel`) without loop nests, which are only
    called.

    Ensures: the same kernels, some of which have the attribute. A kernel that
    multiplies an argument with itself gets this argument twice.

    Example: test/passes/choose-libraries.mlir.

    ```mlir
    func.func private @dot(%x: tensor<64x128xf32>, %w: tensor<128x64xf32>) -> tensor<64x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
      %0 = weft.dot %x, %w contract [1] x [0] : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
      return %0 : tensor<64x64xf32>
    }
    ```
    gets
    ```mlir
    plan.library = #plan.contraction<batch[], rows[64, 128, 0, 64], columns[64, 0, 1, 1], contract[128, 1, 64, 0], sums f32, epilogue none, compute full>
    ```
  }];
  let options = [Option<"target", "target", "std::string", /*default=*/"\"cpu:generic\"",
                        "for which kernels are made; libraries are called on cuda:*">];
  let dependentDialects = ["::weft::nest::NestDialect", "::weft::plan::PlanDialect"];
  let statistics = [Statistic<"chosen", "chosen", "Kernels that a library may compute">];
}

#endif // WEFT_PASSES_KERNELS_PASSES
