//===- Passes.td - the pass that chooses loop nests --------------------------//

#ifndef WEFT_PASSES_NESTS_PASSES
#define WEFT_PASSES_NESTS_PASSES

include "mlir/Pass/PassBase.td"

def ChooseNests : Pass<"weft-choose-nests", "::mlir::ModuleOp"> {
  let summary = "chooses the loop nests of kernels for a target";
  let description = [{
    Decides, from a kernel and the limits of the target, which values are stored
    and where, in which loops they are computed, tiles, packing and blocks, and
    how workers share the kernel. All of it is then IR of the `nest` dialect.
    Values that are too large for scratch memory are in memory that the plan
    gives each launch (`weft.scratch`), so that no value has a size at which a
    kernel does not compile.

    Requires: kernel functions (`weft.kernel`) of local ops. A module with
    `nest.matmul_precision = "tf32"` lets tensor cores round the operands of
    contractions of f32.

    Ensures: each kernel has the attribute `nest.kernel` and holds `nest.loops`,
    constants of more than one number and a return. A kernel that has it already
    stays as it is.

    Example: test/passes/choose-nests.mlir.

    ```mlir
    func.func private @k(%x: tensor<8x4xf32>) -> tensor<8xf32>
        attributes {weft.kernel = #weft.kernel<reduce>} {
      %0 = weft.reduce sum %x dims [1] : tensor<8x4xf32> -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    ```
    becomes
    ```mlir
    func.func private @k(%x: tensor<8x4xf32>) -> tensor<8xf32>
        attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<reduce>} {
      %0 = nest.loops #nest.reduction<register> to [#nest.place<result 0>] {
        %1 = weft.reduce sum %x dims [1] : tensor<8x4xf32> -> tensor<8xf32>
        nest.store %1 : tensor<8xf32>
      } : tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    ```
  }];
  let options = [Option<"target", "target", "std::string", /*default=*/"\"cpu:generic\"",
                        "for which nests are chosen, as cpu:avx2 or cuda:sm_90a: dialects/nest/TargetLimits.cpp">];
  let statistics = [Statistic<"nests", "nests", "Loop nests chosen">,
                    Statistic<"stored", "stored", "Values of kernels kept in their scratch memory">];
  let dependentDialects = ["::weft::nest::NestDialect"];
}

#endif // WEFT_PASSES_NESTS_PASSES
