//===- PlanOps.td - what a device executes ------------------------------------//

#ifndef WEFT_DIALECTS_PLAN_OPS
#define WEFT_DIALECTS_PLAN_OPS

include "weft/dialects/weft/WeftAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::weft::plan";
  let summary = "Instructions on placed buffers: nothing left to decide.";
  let description = [{
    One list of instructions for all devices of the mesh; every value is a
    buffer with a place (a memref of the local shape). Groups stay symbolic.
    See runtime/abi/plan.fbs, which this dialect mirrors one to one.
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;
class Plan_InProgram<string mnemonic, list<Trait> traits = []>
    : Plan_Op<mnemonic, !listconcat([HasParent<"ProgramOp">], traits)>;

def Plan_ProgramOp : Plan_Op<"program", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "the instructions of one step";
  let description = [{
    `plan.program @predict mesh #mesh arena 1600 { ... }`. `arena` is in bytes
    for each device. (C1) a buffer's end lies within the arena; (C2) every jump
    names a label of the program, and labels are distinct.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Weft_MeshAttr:$mesh, I64Attr:$arena);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `mesh` $mesh `arena` $arena attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def Plan_InputOp : Plan_InProgram<"input"> {
  let summary = "a buffer that the caller binds";
  let description = [{ `%x = plan.input "x" role "input" of tensor<16x784xf32> in #layout : memref<8x784xf32>`. Inputs are numbered in order. }];
  let arguments = (ins StrAttr:$name, StrAttr:$role, TypeAttr:$global_type, Weft_LayoutAttr:$layout, OptionalAttr<StrAttr>:$metadata);
  let results = (outs AnyStaticShapeMemRef:$buffer);
  let assemblyFormat = "$name `role` $role `of` $global_type `in` $layout (`metadata` $metadata^)? attr-dict `:` type($buffer)";
}
def Plan_OutputOp : Plan_InProgram<"output"> {
  let summary = "a buffer that the caller reads afterwards";
  let description = [{
    `%y = plan.output "y" role "output" of tensor<16x10xf32> in #layout : memref<8x10xf32>`.
    With `taking %x` the output takes over a donated input's memory.
    (C1) the buffer taken over is an input of the same type.
  }];
  let arguments = (ins StrAttr:$name, StrAttr:$role, TypeAttr:$global_type, Weft_LayoutAttr:$layout, OptionalAttr<StrAttr>:$metadata, Optional<AnyStaticShapeMemRef>:$donor);
  let results = (outs AnyStaticShapeMemRef:$buffer);
  let assemblyFormat = "$name `role` $role `of` $global_type `in` $layout (`metadata` $metadata^)? (`taking` $donor^ `:` type($donor))? attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}
def Plan_BufferOp : Plan_InProgram<"buffer"> {
  let summary = "a place in the device's arena";
  let arguments = (ins I64Attr:$offset);
  let results = (outs AnyStaticShapeMemRef:$buffer);
  let assemblyFormat = "`offset` $offset attr-dict `:` type($buffer)";
}
def Plan_ConstantOp : Plan_InProgram<"constant"> {
  let summary = "read-only data shared by all devices";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyStaticShapeMemRef:$buffer);
  let assemblyFormat = "$value attr-dict `:` type($buffer)";
}

def Plan_LaunchOp : Plan_InProgram<"launch"> {
  let summary = "runs a kernel on buffers: its arguments, then its results";
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyStaticShapeMemRef>:$buffers);
  let assemblyFormat = "$kernel `(` $buffers `)` attr-dict `:` type($buffers)";
}
def Plan_CollectiveOp : Plan_InProgram<"collective", [SameVariadicOperandSize]> {
  let summary = "waits for the group, then combines or moves";
  let description = [{
    `plan.collective "all_reduce" by sum %a to %a over #group because "..." : memref<..> to memref<..>`.
    Kinds: all_reduce, all_gather, reduce_scatter, all_to_all, permute,
    exchange, fetch, pick, collective_permute, host_call, with the meaning of the coll dialect; `group` is a rank-1
    layout whose dimension lists the axes. The second operand of a pick is its
    positions, named as source and target and left as they are. So are the
    operands of a host_call, its first `from_dim` buffers; the rest are its results. `shape` is the global shape of a permute or exchange, the positions of a
    fetch, the sources of a collective_permute, the number of a host_call. `times` says how
    often it happens in a step where that is not once, 0 that nobody knows.
    (C1) the kind is one of these.
  }];
  let arguments = (ins StrAttr:$kind, OptionalAttr<Weft_ReduceKindAttr>:$reduce,
                       Variadic<AnyStaticShapeMemRef>:$sources, Variadic<AnyStaticShapeMemRef>:$targets,
                       OptionalAttr<Weft_LayoutAttr>:$group, OptionalAttr<I64Attr>:$from, OptionalAttr<I64Attr>:$to,
                       OptionalAttr<Weft_LayoutAttr>:$from_layout, OptionalAttr<Weft_LayoutAttr>:$to_layout,
                       OptionalAttr<DenseI64ArrayAttr>:$shape, OptionalAttr<StrAttr>:$reason,
                       OptionalAttr<I64Attr>:$times);
  let assemblyFormat = [{
    $kind (`by` $reduce^)? $sources `to` $targets (`over` $group^)? (`from_dim` $from^)? (`to_dim` $to^)?
    (`of` $shape^)? (`from` $from_layout^)? (`into` $to_layout^)? (`because` $reason^)?
    (`times` $times^)? attr-dict `:` type($sources) `to` type($targets)
  }];
  let hasVerifier = 1;
}
def Plan_CopyOp : Plan_InProgram<"copy", [AllTypesMatch<["source", "target"]>]> {
  let summary = "copies one buffer to another";
  let arguments = (ins AnyStaticShapeMemRef:$source, AnyStaticShapeMemRef:$target);
  let assemblyFormat = "$source `to` $target attr-dict `:` type($source)";
}
def Plan_LabelOp : Plan_InProgram<"label"> {
  let summary = "a place to jump to";
  let arguments = (ins StrAttr:$name);
  let assemblyFormat = "$name attr-dict";
}
def Plan_JumpOp : Plan_InProgram<"jump"> {
  let summary = "goes on at a label";
  let arguments = (ins StrAttr:$target);
  let assemblyFormat = "$target attr-dict";
}
def Plan_JumpUnlessOp : Plan_InProgram<"jump_unless"> {
  let summary = "goes on at a label where a scalar i1 buffer is 0";
  let arguments = (ins MemRefRankOf<[I1], [0]>:$condition, StrAttr:$target);
  let assemblyFormat = "$condition $target attr-dict `:` type($condition)";
}

#endif // WEFT_DIALECTS_PLAN_OPS
