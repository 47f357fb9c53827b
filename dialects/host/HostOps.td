//===- HostOps.td - ops that call a program's host ---------------------------//

#ifndef WEFT_DIALECTS_HOST_OPS
#define WEFT_DIALECTS_HOST_OPS

include "weft/dialects/plan/PlanInstruction.td"
include "weft/dialects/weft/WeftAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Host_Dialect : Dialect {
  let name = "host";
  let cppNamespace = "::weft::host";
  let summary = "Calls of the process that runs a program.";
  let description = [{ Per-device code, as that of the coll dialect. }];
  let dependentDialects = ["::weft::WeftDialect", "::weft::plan::PlanDialect"];
}

def Host_CallOp : Op<Host_Dialect, "call",
    [MemoryEffects<[MemRead, MemWrite]>, DeclareOpInterfaceMethods<Plan_InstructionOpInterface, ["getCollectiveName"]>]> {
  let summary = "calls a function of the host, once for a group of devices";
  let description = [{
    `%1 = host.call 7(%0) in #group : (tensor<4xf32>) -> tensor<2xi32>`:
    function 7 is called with the operands of the group's first member; all
    members receive its results. Calls happen in the order in which they stand,
    and none is left out. `group` is a rank-1 layout whose dimension lists axes.
    (C1) the number is not negative.
  }];
  let arguments = (ins I64Attr:$function, Variadic<AnyRankedTensor>:$inputs, Weft_LayoutAttr:$group);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$function `(` $inputs `)` `in` $group attr-dict `:` functional-type($inputs, $results)";
  let hasVerifier = 1;
}

def ObservesLayout : NativeOpTrait<"ObservesLayout"> { let cppNamespace = "::weft"; }

def Host_ObserveOp : Op<Host_Dialect, "observe", [ObservesLayout, MemoryEffects<[MemWrite]>]> {
  let summary = "asks in which layout a value is computed";
  let description = [{
    `host.observe %0 as "3" : tensor<8x4xf32>`, before the sharded stage. The
    answer stands under that name in the program file, for who runs the program;
    see ObservesLayout.h. Without a name there is no answer: the op then only
    keeps a value that others share a layout with until layouts are chosen.
  }];
  let arguments = (ins AnyRankedTensor:$input, OptionalAttr<StrAttr>:$name);
  let assemblyFormat = "$input (`as` $name^)? attr-dict `:` type($input)";
}

#endif // WEFT_DIALECTS_HOST_OPS
