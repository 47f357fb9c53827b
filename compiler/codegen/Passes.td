//===- Passes.td - code generators on the command line -----------------------//

#ifndef WEFT_COMPILER_CODEGEN_PASSES
#define WEFT_COMPILER_CODEGEN_PASSES

include "mlir/Pass/PassBase.td"

def PrintAssembly : Pass<"weft-print-assembly", "::mlir::ModuleOp"> {
  let summary = "prints the code that a code generator emits for the kernels";
  let description = [{
    Requires: functions with the attribute `weft.kernel`.

    Ensures: the module is unchanged; the assembly text of its kernels for
    `target` is on standard output. A kernel that the generator refuses is an
    error with its name.

    Example: test/passes/print-assembly.mlir, in short
    `weft-opt kernels.mlir --weft-print-assembly=target=cpu:avx2 -o /dev/null`
  }];
  let options = [Option<"target", "target", "std::string", "\"native\"",
                        "a target of weft compile">];
}

#endif // WEFT_COMPILER_CODEGEN_PASSES
