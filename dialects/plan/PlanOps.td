//===- PlanOps.td - ops that a device executes -------------------------------//

#ifndef WEFT_DIALECTS_PLAN_OPS
#define WEFT_DIALECTS_PLAN_OPS

include "weft/dialects/plan/PlanEnums.td"
include "weft/dialects/weft/WeftAttributes.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
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
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;
class Plan_InProgram<string mnemonic, list<Trait> traits = []>
    : Plan_Op<mnemonic, !listconcat([HasParent<"ProgramOp">], traits)>;
class Plan_InCode<string mnemonic, list<Trait> traits = []>
    : Plan_Op<mnemonic, !listconcat([ParentOneOf<["ProgramOp", "RoutineOp"]>], traits)>;

def Plan_ProgramOp : Plan_Op<"program", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "the instructions of one step";
  let description = [{
    `plan.program @predict mesh #mesh arena 1600 { ... }`. `arena` is in bytes
    for each device. (C1) a buffer's end is within the arena; (C2) every jump
    names a label of the program, and labels are distinct; (C3) groups are
    layouts of rank 1 on the program's mesh. Devices of one process may share a
    buffer, and do a launch or copy once: `plan.shared`
    (dialects/plan/Sharing.h). (C4) what is shared is so over a layout of rank 1
    on the program's mesh, and a plan.buffer has `plan.shared_offset`; (C5) a launch or copy writes buffers that are shared
    over the same axes, or not at all if it is not; (C6) a collective's group
    has the axes over which its targets are shared; (C7) between the start of a
    collective and its wait, by any jumps, nothing touches its targets or writes
    its sources; (C8) a collective that is started is awaited before it is started
    again and before the program ends, by any jumps.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Weft_MeshAttr:$mesh, I64Attr:$arena);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `mesh` $mesh `arena` $arena attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def Plan_InputOp : Plan_InProgram<"input"> {
  let summary = "a buffer that the caller binds";
  let description = [{ `%x = plan.input "x" role "input" of tensor<16x784xf32> in #layout : memref<8x784xf32>`. Inputs are numbered in order. }];
  let arguments = (ins StrAttr:$name, StrAttr:$role, TypeAttr:$global_type, Weft_LayoutAttr:$layout, OptionalAttr<DictionaryAttr>:$facts);
  let results = (outs AnyStaticShapeMemRef:$buffer);
  let assemblyFormat = "$name `role` $role `of` $global_type `in` $layout (`facts` $facts^)? attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}
def Plan_OutputOp : Plan_InProgram<"output"> {
  let summary = "a buffer that the caller reads afterwards";
  let description = [{
    `%y = plan.output "y" role "output" of tensor<16x10xf32> in #layout : memref<8x10xf32>`.
    With `taking %x` the output reuses a donated input's memory.
    (C1) the reused buffer is an input of the same type.
  }];
  let arguments = (ins StrAttr:$name, StrAttr:$role, TypeAttr:$global_type, Weft_LayoutAttr:$layout, OptionalAttr<DictionaryAttr>:$facts, Optional<AnyStaticShapeMemRef>:$donated);
  let results = (outs AnyStaticShapeMemRef:$buffer);
  let assemblyFormat = "$name `role` $role `of` $global_type `in` $layout (`facts` $facts^)? (`taking` $donated^ `:` type($donated))? attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}
def Plan_BufferOp : Plan_InProgram<"buffer"> {
  let summary = "a place in the device's arena";
  let arguments = (ins I64Attr:$offset);
  let results = (outs AnyStaticShapeMemRef:$buffer);
  let assemblyFormat = "`offset` $offset attr-dict `:` type($buffer)";
}
def Plan_ConstantOp : Plan_InCode<"constant"> {
  let summary = "read-only data shared by all devices";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyStaticShapeMemRef:$buffer);
  let assemblyFormat = "$value attr-dict `:` type($buffer)";
}

//===----------------------------------------------------------------------===//
// Kernels that are not host functions
//===----------------------------------------------------------------------===//

// A launch names a function of the module (`weft.kernel`), whose code is for
// the host, one of these ops but plan.device_module, or a symbol that only the
// shared object has.

def Plan_ModuleFormatAttr : EnumAttr<Plan_Dialect, Plan_ModuleFormat, "module_format">;
def Plan_EpilogueAttr : EnumAttr<Plan_Dialect, Plan_Epilogue, "epilogue">;
def Plan_ComputeAttr : EnumAttr<Plan_Dialect, Plan_Compute, "compute">;

class Plan_Attr<string cppName, string mnemonicOf, list<Trait> traits = []> : AttrDef<Plan_Dialect, cppName, traits> {
  let mnemonic = mnemonicOf;
}
def Plan_ContractionAttr : Plan_Attr<"Contraction", "contraction"> {
  let summary = "the call of a library by which a device may compute a kernel";
  let description = [{
    On a kernel function, as `plan.library`: the contraction of
    plan.library_contraction.
    `#plan.contraction<batch[], rows[16, 784, 0, 200], columns[200, 0, 1, 1], contract[784, 1, 200, 0], sums f32, epilogue none, compute full>`.
    The function's arguments are lhs, rhs, and the bias where the epilogue has
    one. `first[0, 768]`: rhs begins at element 768 of its argument, as a slice
    does. (C1) four numbers a dimension, none negative, rows not in rhs, columns
    not in lhs, contracted dimensions not in the result, two first elements or
    none; (C2) it is on a kernel of these arguments and one result, which hold
    all that the dimensions reach.
  }];
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$batch, ArrayRefParameter<"int64_t">:$rows,
      ArrayRefParameter<"int64_t">:$columns, ArrayRefParameter<"int64_t">:$contract,
      OptionalArrayRefParameter<"int64_t">:$first, "::mlir::Type":$sums,
      EnumParameter<Plan_Epilogue>:$epilogue, EnumParameter<Plan_Compute>:$compute);
  let assemblyFormat = [{
    `<` `batch` `[` (`]`) : ($batch^ `]`)? `,` `rows` `[` $rows `]` `,` `columns` `[` $columns `]` `,`
    `contract` `[` $contract `]` (`first` `[` $first^ `]`)? `,` `sums` $sums `,` `epilogue` $epilogue `,` `compute` $compute `>`
  }];
  let genVerifyDecl = 1;
}

class Plan_KernelOp<string mnemonic, list<Trait> traits = []>
    : Plan_Op<mnemonic, !listconcat([Symbol], traits)>;

def Plan_DeviceModuleOp : Plan_KernelOp<"device_module"> {
  let summary = "code of a device that kernels are found in";
  let description = [{
    `plan.device_module @code chip "sm_90" format ptx data "..."`. (C1) chip
    and data are not empty.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$chip, Plan_ModuleFormatAttr:$format, StrAttr:$data);
  let assemblyFormat = "$sym_name `chip` $chip `format` `` $format `data` $data attr-dict";
  let hasVerifier = 1;
}
def Plan_DeviceKernelOp : Plan_KernelOp<"device_kernel", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a function of a device module, and how many threads run it";
  let description = [{
    `plan.device_kernel @relu in @code symbol "relu" block [256, 1, 1] blocks 64 shared 0 scratch 4096`:
    blocks of 256 threads, at most 64 of them, with `shared` bytes of memory of
    their own each; `scratch` bytes for the launch. (C1) a block has three sizes
    from 1 on and 1,024 threads at most, and there is a block; (C2) its module
    is a plan.device_module; (C3) its bytes are not negative, those that a
    block shares at most 2^20.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$in_module, StrAttr:$symbol,
                       DenseI64ArrayAttr:$block, I64Attr:$blocks, I64Attr:$shared, I64Attr:$scratch);
  let assemblyFormat = "$sym_name `in` $in_module `symbol` $symbol `block` $block `blocks` $blocks `shared` $shared `scratch` $scratch attr-dict";
  let hasVerifier = 1;
}
def Plan_LibraryContractionOp : Plan_KernelOp<"library_contraction", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a contraction that a device's library computes";
  let description = [{
    `plan.library_contraction @dot batch [] rows [16, 784, 0, 200] columns [200, 0, 1, 1] contract [784, 1, 200, 0] sums f32 epilogue none fallback @tiles scratch 0`,
    launched on lhs, rhs, the bias where the epilogue has one, and the result.
    Four numbers a dimension: its size and how many elements its steps are apart
    in lhs, rhs and result. `first [0, 768]`: lhs and rhs begin at these elements
    of their buffers. `compute tf32` lets products of f32 have 10 bits of
    mantissa; without it they are exact. `fallback` computes the same from the same buffers.
    (C1) four numbers a dimension, none negative, rows not in rhs, columns not
    in lhs, contracted dimensions not in the result, two first elements or none;
    (C2) the fallback is a plan.device_kernel or a plan.kernel_sequence.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DenseI64ArrayAttr:$batch, DenseI64ArrayAttr:$rows,
                       DenseI64ArrayAttr:$columns, DenseI64ArrayAttr:$contract,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$first, TypeAttr:$sums,
                       Plan_EpilogueAttr:$epilogue, DefaultValuedAttr<Plan_ComputeAttr, "::weft::plan::Compute::full">:$compute,
                       FlatSymbolRefAttr:$fallback, I64Attr:$scratch);
  let assemblyFormat = [{
    $sym_name `batch` $batch `rows` $rows `columns` $columns `contract` $contract (`first` $first^)? `sums` $sums
    `epilogue` `` $epilogue (`compute` `` $compute^)? `fallback` $fallback `scratch` $scratch attr-dict
  }];
  let hasVerifier = 1;
}
def Plan_KernelSequenceOp : Plan_KernelOp<"kernel_sequence", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "kernels of a device, launched one after the other on the same buffers";
  let description = [{
    `plan.kernel_sequence @dot kernels [@dot_parts, @dot_sum] scratch 4096`: the
    second kernel reads what the first left in scratch memory. (C1) two kernels
    or more, each a plan.device_kernel with as many bytes of scratch memory.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefArrayAttr:$kernels, I64Attr:$scratch);
  let assemblyFormat = "$sym_name `kernels` $kernels `scratch` $scratch attr-dict";
}
def Plan_BuiltinOp : Plan_KernelOp<"builtin"> {
  let summary = "a kernel that a device's runtime has itself";
  let description = [{ `plan.builtin @sort name "sort" parameters [1000, 4] scratch 8000`. (C1) the name is not empty. }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$name, DenseI64ArrayAttr:$parameters, I64Attr:$scratch);
  let assemblyFormat = "$sym_name `name` $name `parameters` $parameters `scratch` $scratch attr-dict";
  let hasVerifier = 1;
}

def Plan_LaunchOp : Plan_InCode<"launch", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a kernel on buffers: its arguments, then its results";
  let description = [{
    `plan.launch @k(%a, %b) scratch %s : memref<4xf32>, memref<4xf32>, memref<4096xi8>`.
    The contents of the scratch memory are lost.
    (C1) the launch has at least as many bytes of scratch memory as its kernel
    needs, and no scratch memory if that is 0; (C2) the symbol of the
    kernel's name is a kernel; (C3) buffers for a routine have the types of its
    arguments.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyStaticShapeMemRef>:$buffers, Optional<AnyStaticShapeMemRef>:$scratch);
  let assemblyFormat = "$kernel `(` $buffers `)` (`scratch` $scratch^ `:` type($scratch))? attr-dict `:` type($buffers)";
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

// What the devices of a group do together: the kinds of
// layout/Communication.h, which these attributes hold.
def Plan_CommunicationAttrInterface : AttrInterface<"CommunicationAttrInterface"> {
  let cppNamespace = "::weft::plan";
  let description = [{ A kind of collective with its properties. }];
  let methods = [
    InterfaceMethod<"The same in plain C++.", "::weft::Communication", "getCommunication">,
  ];
}
class Plan_CommunicationAttr<string cppName, string mnemonicOf>
    : Plan_Attr<cppName, mnemonicOf, [DeclareAttrInterfaceMethods<Plan_CommunicationAttrInterface>]>;

def Plan_CombinationAttr : Plan_CommunicationAttr<"Combination", "combination"> {
  let summary = "combines the members' elements; along a dimension, each member gets its block";
  let description = [{ `#plan.combination<sum>`, `#plan.combination<sum dim 0>`. }];
  let parameters = (ins "::weft::ReduceKind":$kind, DefaultValuedParameter<"int64_t", "-1">:$dim);
  let assemblyFormat = "`<` $kind (`dim` $dim^)? `>`";
}
def Plan_MovementAttr : Plan_CommunicationAttr<"Movement", "movement"> {
  let summary = "gives an array of a global shape another layout";
  let description = [{
    `#plan.movement<[16, 16] from #a to #b>`: each device receives exactly the
    elements that it lacks; with `ring`, blocks are sent with their padding.
    With boxes they fill an array of another shape:
    `#plan.movement<[8] from #a to #a boxes <[0:7] of 0 at [d0 + 1]> of [7]>`.
    They may read further sources, each an array of a global shape in a layout:
    `boxes <[0:7] of 0 at [d0 + 1], [7:9] of 1 at [d0]> of [9] and <[2] in #a>>`.
    (C1) all layouts are on one mesh.
  }];
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$shape, "::weft::LayoutAttr":$from,
                        "::weft::LayoutAttr":$to, DefaultValuedParameter<"bool", "false">:$isRing,
                        OptionalParameter<"::weft::BoxesAttr">:$boxes, OptionalArrayRefParameter<"int64_t">:$toShape,
                        OptionalArrayRefParameter<"::weft::SourceAttr">:$others);
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape, "::weft::LayoutAttr":$from, "::weft::LayoutAttr":$to, "bool":$isRing), [{
    return $_get($_ctxt, shape, from, to, isRing, ::weft::BoxesAttr(), ::llvm::ArrayRef<int64_t>(), ::llvm::ArrayRef<::weft::SourceAttr>());
  }]>];
  let assemblyFormat = "`<` `[` (`]`) : ($shape^ `]`)? `from` $from `to` $to `` custom<Ring>($isRing) (`boxes` $boxes^ `of` `[` $toShape `]`)? (`and` $others^)? `>`";
  let genVerifyDecl = 1;
}
def Plan_FetchingAttr : Plan_CommunicationAttr<"Fetching", "fetching"> {
  let summary = "receives chosen positions of a dimension of the group's blocks";
  let description = [{
    `#plan.fetching<dim 0 at[8, 4, 1, -2, 1, 0]>`: size, block, step, offset,
    divisor and modulus of coll.fetch. `#plan.fetching<dim 0>`: the positions in
    the second source, as coll.pick. (C1) there are six numbers or none.
  }];
  let parameters = (ins "int64_t":$dim, OptionalArrayRefParameter<"int64_t">:$positions);
  let assemblyFormat = "`<` `dim` $dim (`at` `[` $positions^ `]`)? `>`";
  let genVerifyDecl = 1;
}
def Plan_SendingAttr : Plan_CommunicationAttr<"Sending", "sending"> {
  let summary = "member k receives all that member senders[k] has, nothing where that is -1";
  let description = [{ `#plan.sending<[1, -1]>`. }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$senders);
  let assemblyFormat = "`<` `[` $senders `]` `>`";
}
def Plan_HostCallAttr : Plan_CommunicationAttr<"HostCall", "host_call"> {
  let summary = "calls a function of the host with the sources of the first member; all get its results";
  let description = [{ `#plan.host_call<7>`. }];
  let parameters = (ins "int64_t":$function);
  let assemblyFormat = "`<` $function `>`";
}

def Plan_StartedType : TypeDef<Plan_Dialect, "Started"> {
  let mnemonic = "started";
  let summary = "a collective that a device has started";
}

def Plan_StartOp : Plan_InProgram<"start", [AttrSizedOperandSegments]> {
  let summary = "starts a collective: hands in buffers, and fills others until the wait";
  let description = [{
    `%0 = plan.start "all_reduce" #plan.combination<sum> (%a, %b) to (%a, %c) over #group reason "..." times 3 : (memref<..>, memref<..>) to (memref<..>, memref<..>)`.
    The name is for people. `group` is a layout of rank 1, whose dimension lists
    the digits in which a group's devices differ. `times` is the number of
    executions in a step if that is not one, 0 if unknown.
    (C1) the buffers fit the communication; (C2) one plan.wait names it.
    plan.program says what may be between both.
  }];
  let arguments = (ins StrAttr:$name, Plan_CommunicationAttrInterface:$communication,
                       Variadic<AnyStaticShapeMemRef>:$sources, Variadic<AnyStaticShapeMemRef>:$targets,
                       Weft_LayoutAttr:$group, OptionalAttr<StrAttr>:$reason, OptionalAttr<I64Attr>:$times);
  let results = (outs Plan_StartedType:$started);
  let assemblyFormat = [{
    $name $communication ` ` `(` $sources `)` `to` ` ` `(` $targets `)` `over` $group (`reason` $reason^)? (`times` $times^)?
    attr-dict `:` `(` type($sources) `)` `to` ` ` `(` type($targets) `)`
  }];
  let extraClassDeclaration = [{
    /// The digits in which the devices of a group differ, major to minor.
    ::weft::SubAxes getGroupAxes() { return groupAxes(getGroup()); }
    /// The axes along which something moves.
    ::weft::SubAxes getLinks();
    /// Bytes that the busiest device sends to others each time.
    int64_t getBytesSent();
    WaitOp getWait();
  }];
  let hasVerifier = 1;
}
def Plan_WaitOp : Plan_InProgram<"wait"> {
  let summary = "waits for the end of a collective on the device";
  let description = [{
    `plan.wait %0`. A device that has jumped over the start waits for nothing.
  }];
  let arguments = (ins Plan_StartedType:$started);
  let assemblyFormat = "$started attr-dict";
}

def Plan_AwaitOp : Plan_Op<"await"> {
  let summary = "where a function waits for a collective";
  let description = [{
    `plan.await %s#0, %s#1 : tensor<4xf32>, tensor<4xf32>`, before buffers are
    placed: the collective starts at its op, and the plan waits for it here. A
    collective without it is awaited at once.
    (C1) the operands are all results of one collective of the block, or of a
    branch whose first region is one collective, in order, and no other
    plan.await has them; (C2) no op uses a result before.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Ops on one device
//===----------------------------------------------------------------------===//

def Plan_CopyOp : Plan_InCode<"copy", [AllTypesMatch<["source", "target"]>]> {
  let summary = "copies one buffer to another";
  let arguments = (ins AnyStaticShapeMemRef:$source, AnyStaticShapeMemRef:$target);
  let assemblyFormat = "$source `to` $target attr-dict `:` type($source)";
}
def Plan_LabelOp : Plan_InCode<"label"> {
  let summary = "a place to jump to";
  let description = [{
    `plan.label "loop 0" rounds 100` begins a loop of so many iterations; nothing is said where that is unknown.
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<I64Attr>:$rounds);
  let assemblyFormat = "$name (`rounds` $rounds^)? attr-dict";
}
def Plan_JumpOp : Plan_InCode<"jump"> {
  let summary = "goes on at a label";
  let arguments = (ins StrAttr:$target);
  let assemblyFormat = "$target attr-dict";
}
def Plan_JumpUnlessOp : Plan_InCode<"jump_unless"> {
  let summary = "goes on at a label where a scalar i1 buffer is 0";
  let description = [{
    `plan.jump_unless %more "end 1" equal : memref<i1>` jumps on all devices that come to it or on none, as layouts prove
    the condition equal on them; without `equal`, nothing is known.
  }];
  let arguments = (ins MemRefRankOf<[I1], [0]>:$condition, StrAttr:$target, UnitAttr:$equal);
  let assemblyFormat = "$condition $target (`equal` $equal^)? attr-dict `:` type($condition)";
}

def Plan_JumpOutsideOp : Plan_InProgram<"jump_outside"> {
  let summary = "goes on at a label on devices that are not in a part of the mesh";
  let description = [{
    `plan.jump_outside #mesh {"branch" = 1} "end 0"`. (C1) the part is not the whole mesh; (C2) it is of the
    program's mesh.
  }];
  let arguments = (ins Weft_LayoutAttr:$place, StrAttr:$target);
  let assemblyFormat = "custom<Place>($place) $target attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Instructions in one launch
//===----------------------------------------------------------------------===//

def Plan_RoutineOp : Plan_KernelOp<"routine", [IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "a kernel of the host made of instructions";
  let description = [{
    The loop of a device, without a dispatch of the runtime in each iteration.
    The arguments are a launch's buffers; `plan.local` is memory of the routine.

    ```mlir
    plan.routine @loop_add {
    ^bb0(%x: memref<f32>):
      %more = plan.local : memref<i1>
      plan.label "loop 0"
      plan.launch @less(%x, %more) : memref<f32>, memref<i1>
      plan.jump_unless %more "end 1" : memref<i1>
      plan.launch @add(%x, %x) : memref<f32>, memref<f32>
      plan.jump "loop 0"
      plan.label "end 1"
    }
    ```
    (C1) every jump names a label of the routine, and labels are distinct; (C2)
    launches name functions of the module.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}
def Plan_LocalOp : Plan_Op<"local", [HasParent<"RoutineOp">]> {
  let summary = "memory of a routine, lost at its end";
  let results = (outs AnyStaticShapeMemRef:$buffer);
  let assemblyFormat = "attr-dict `:` type($buffer)";
}

#endif // WEFT_DIALECTS_PLAN_OPS
