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
  let hasOperationAttrVerify = 1;
}

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;
class Plan_InProgram<string mnemonic, list<Trait> traits = []>
    : Plan_Op<mnemonic, !listconcat([HasParent<"ProgramOp">], traits)>;

def Plan_ProgramOp : Plan_Op<"program", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "the instructions of one step";
  let description = [{
    `plan.program @predict mesh #mesh arena 1600 { ... }`. `arena` is in bytes
    for each device. (C1) a buffer's end is within the arena; (C2) every jump
    names a label of the program, and labels are distinct; (C3) groups are
    layouts of rank 1 on the program's mesh.
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
def Plan_ConstantOp : Plan_InProgram<"constant"> {
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

class Plan_Attr<string cppName, string mnemonicOf> : AttrDef<Plan_Dialect, cppName> {
  let mnemonic = mnemonicOf;
}
def Plan_ContractionAttr : Plan_Attr<"Contraction", "contraction"> {
  let summary = "the call of a library by which a device may compute a kernel";
  let description = [{
    On a kernel function, as `plan.library`: the contraction of
    plan.library_contraction.
    `#plan.contraction<batch[], rows[16, 784, 0, 200], columns[200, 0, 1, 1], contract[784, 1, 200, 0], sums f32, epilogue none, compute full>`.
    The function's arguments are lhs, rhs, and the bias where the epilogue has
    one. (C1) four numbers a dimension, none negative, rows not in rhs, columns
    not in lhs, contracted dimensions not in the result; (C2) it is on a kernel
    of these arguments and one result, which hold all that the dimensions reach.
  }];
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$batch, ArrayRefParameter<"int64_t">:$rows,
      ArrayRefParameter<"int64_t">:$columns, ArrayRefParameter<"int64_t">:$contract, "::mlir::Type":$sums,
      EnumParameter<Plan_Epilogue>:$epilogue, EnumParameter<Plan_Compute>:$compute);
  let assemblyFormat = [{
    `<` `batch` `[` (`]`) : ($batch^ `]`)? `,` `rows` `[` $rows `]` `,` `columns` `[` $columns `]` `,`
    `contract` `[` $contract `]` `,` `sums` $sums `,` `epilogue` $epilogue `,` `compute` $compute `>`
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
    in lhs, rhs and result. `compute tf32` lets products of f32 have 10 bits of
    mantissa; without it they are exact. `fallback` computes the same from the same buffers.
    (C1) four numbers a dimension, none negative, rows not in rhs, columns not
    in lhs, contracted dimensions not in the result; (C2) the fallback is a
    plan.device_kernel.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DenseI64ArrayAttr:$batch, DenseI64ArrayAttr:$rows,
                       DenseI64ArrayAttr:$columns, DenseI64ArrayAttr:$contract, TypeAttr:$sums,
                       Plan_EpilogueAttr:$epilogue, DefaultValuedAttr<Plan_ComputeAttr, "::weft::plan::Compute::full">:$compute,
                       FlatSymbolRefAttr:$fallback, I64Attr:$scratch);
  let assemblyFormat = [{
    $sym_name `batch` $batch `rows` $rows `columns` $columns `contract` $contract `sums` $sums
    `epilogue` `` $epilogue (`compute` `` $compute^)? `fallback` $fallback `scratch` $scratch attr-dict
  }];
  let hasVerifier = 1;
}
def Plan_BuiltinOp : Plan_KernelOp<"builtin"> {
  let summary = "a kernel that a device's runtime has itself";
  let description = [{ `plan.builtin @sort name "sort" parameters [1000, 4] scratch 8000`. (C1) the name is not empty. }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$name, DenseI64ArrayAttr:$parameters, I64Attr:$scratch);
  let assemblyFormat = "$sym_name `name` $name `parameters` $parameters `scratch` $scratch attr-dict";
  let hasVerifier = 1;
}

def Plan_LaunchOp : Plan_InProgram<"launch", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a kernel on buffers: its arguments, then its results";
  let description = [{
    `plan.launch @k(%a, %b) scratch %s : memref<4xf32>, memref<4xf32>, memref<4096xi8>`.
    The contents of the scratch memory are lost.
    (C1) the launch has at least as many bytes of scratch memory as its kernel
    needs, and no scratch memory if that is 0; (C2) the symbol of the
    kernel's name is a kernel.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyStaticShapeMemRef>:$buffers, Optional<AnyStaticShapeMemRef>:$scratch);
  let assemblyFormat = "$kernel `(` $buffers `)` (`scratch` $scratch^ `:` type($scratch))? attr-dict `:` type($buffers)";
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

def Plan_CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::weft::plan";
  let description = [{
    The common part of all collectives: an instruction that waits for the group,
    then combines or moves. Their meanings are those of the ops of the coll
    dialect with the same names.
  }];
  let methods = [
    InterfaceMethod<"Buffers that a device hands in.", "::mlir::ValueRange", "getSources">,
    InterfaceMethod<"Buffers that a device gets.", "::mlir::ValueRange", "getTargets">,
    InterfaceMethod<"The digits in which the devices of a group differ, major to minor.", "::weft::SubAxes", "getGroupAxes">,
    InterfaceMethod<"The axes along which something moves.", "::weft::SubAxes", "getLinks">,
    InterfaceMethod<[{
      Bytes that the device that sends most of all sends to others each time.
    }], "int64_t", "getBytesSent">,
    InterfaceMethod<"Provenance, one line for people.", "std::optional<::llvm::StringRef>", "getReason">,
    InterfaceMethod<"How often it happens in a step: once where nothing is said, 0 where nobody knows.",
      "std::optional<uint64_t>", "getTimes">,
  ];
  let extraClassDeclaration = [{
    /// The name of the collective: all_reduce, all_gather, ...
    ::llvm::StringRef getKind() { return getOperation()->getName().stripDialect(); }
  }];
}

// Attributes of a collective: `times` is its number of executions in a step if
// that is not one, 0 if unknown. `group` is a layout of rank 1, whose dimension
// lists the axes.
class Plan_CollectiveOp<string mnemonic, string text, list<Trait> traits = []>
    : Plan_InProgram<mnemonic, !listconcat([Plan_CollectiveOpInterface], traits)> {
  let summary = text;
  let hasVerifier = 1;
}
defvar Plan_InGroup = [{
  ::weft::SubAxes getGroupAxes() { return groupAxes(getGroup()); }
  ::weft::SubAxes getLinks() { return groupAxes(getGroup()); }
  int64_t getBytesSent();
}];

def Plan_AllReduceOp : Plan_CollectiveOp<"all_reduce", "combines each source over the group into its target, in device order", [SameVariadicOperandSize]> {
  let description = [{
    `plan.all_reduce sum %a, %b to %a, %c over #group reason "..." times 3 : memref<..>, memref<..> to memref<..>, memref<..>`.
    (C1) there is a source, and targets have their sources' types.
  }];
  let arguments = (ins Weft_ReduceKindAttr:$reduce, Variadic<AnyStaticShapeMemRef>:$sources, Variadic<AnyStaticShapeMemRef>:$targets,
                       Weft_LayoutAttr:$group, OptionalAttr<StrAttr>:$reason, OptionalAttr<I64Attr>:$times);
  let assemblyFormat = [{
    `` $reduce $sources `to` $targets `over` $group (`reason` $reason^)? (`times` $times^)? attr-dict
    `:` type($sources) `to` type($targets)
  }];
  let extraClassDeclaration = Plan_InGroup;
}

// An op that moves a buffer: one source, or a source and further operands that
// are read; the last operand is the target.
class Plan_MovingOp<string mnemonic, string text, dag operands, dag own, string form, string types,
                    string more = Plan_InGroup, dag group = (ins Weft_LayoutAttr:$group)>
    : Plan_CollectiveOp<mnemonic, text> {
  let arguments = !con(operands, own, group, (ins OptionalAttr<StrAttr>:$reason, OptionalAttr<I64Attr>:$times));
  let assemblyFormat = form # " (`reason` $reason^)? (`times` $times^)? attr-dict `:` " # types;
  let extraClassDeclaration = [{
    ::mlir::ValueRange getSources() { return getOperation()->getOperands().drop_back(); }
    ::mlir::ValueRange getTargets() { return getOperation()->getOperands().take_back(); }
  }] # more;
}
class Plan_GroupMoveOp<string mnemonic, string text, dag own, string form>
    : Plan_MovingOp<mnemonic, text, (ins AnyStaticShapeMemRef:$source, AnyStaticShapeMemRef:$target), own,
                    form # " `over` $group", "type($source) `to` type($target)">;

def Plan_AllGatherOp : Plan_GroupMoveOp<"all_gather", "concatenates the group's blocks, truncated to the target",
    (ins I64Attr:$dim), "$source `to` $target `dim` $dim"> {
  let description = [{ `plan.all_gather %a to %b dim 0 over #group : memref<4xf32> to memref<8xf32>`. (C1) the dim lies in the rank, others agree; (C2) sizes fit the group. }];
}
def Plan_ReduceScatterOp : Plan_GroupMoveOp<"reduce_scatter", "combines, then keeps block k of the target's size",
    (ins Weft_ReduceKindAttr:$reduce, I64Attr:$dim), "`` $reduce $source `to` $target `dim` $dim"> {
  let description = [{ `plan.reduce_scatter sum %a to %b dim 0 over #group : memref<8xf32> to memref<4xf32>`. (C1) the dim lies in the rank, others agree; (C2) sizes fit the group. }];
}
def Plan_AllToAllOp : Plan_GroupMoveOp<"all_to_all", "sends block j along `split` to member j, concatenates along `concat`",
    (ins I64Attr:$split, I64Attr:$concat), "$source `to` $target `split` $split `concat` $concat"> {
  let description = [{ `plan.all_to_all %a to %b split 1 concat 0 over #group : memref<4x8xf32> to memref<8x4xf32>`. (C1) the two dims differ and lie in the rank, others agree; (C2) sizes fit the group. }];
}
def Plan_FetchOp : Plan_GroupMoveOp<"fetch", "receives chosen positions of a dimension: see coll.fetch",
    (ins I64Attr:$dim, I64Attr:$size, I64Attr:$block, I64Attr:$step, I64Attr:$offset, I64Attr:$divisor, I64Attr:$modulus),
    "$source `to` $target `dim` $dim `of` $size `at` `block` $block `step` $step `offset` $offset `divisor` $divisor `modulus` $modulus"> {
  let description = [{
    `plan.fetch %a to %b dim 0 of 8 at block 4 step 1 offset -1 divisor 1 modulus 0 over #group : memref<4xf32> to memref<6xf32>`.
    (C1) the dim lies in the rank, others agree; (C2) the source's size is
    ceil(size / group size); (C3) the divisor is positive, the modulus not negative.
  }];
}
def Plan_CollectivePermuteOp : Plan_GroupMoveOp<"collective_permute", "member k receives all that member senders[k] has, nothing where that is -1",
    (ins DenseI64ArrayAttr:$senders), "$source `to` $target `senders` $senders"> {
  let description = [{ `plan.collective_permute %a to %b senders [1, 0] over #group : memref<4xf32> to memref<4xf32>`. (C1) one sender for each member, -1 or a member; (C2) source and target have one type. }];
}
def Plan_PickOp : Plan_MovingOp<"pick", "receives the elements at positions that are data: see coll.pick",
    (ins AnyStaticShapeMemRef:$source, AnyStaticShapeMemRef:$positions, AnyStaticShapeMemRef:$target), (ins I64Attr:$dim),
    "$source `at` $positions `to` $target `dim` $dim `over` $group", "type($source) `at` type($positions) `to` type($target)"> {
  let description = [{
    `plan.pick %a at %p to %b dim 0 over #group : memref<4xf32> at memref<6xi64> to memref<6xf32>`.
    (C1) positions are i64 in the target's shape; (C2) the dim lies in the rank, others agree.
  }];
}

class Plan_LayoutMoveOp<string mnemonic, string text>
    : Plan_MovingOp<mnemonic, text, (ins AnyStaticShapeMemRef:$source, AnyStaticShapeMemRef:$target),
        (ins DenseI64ArrayAttr:$shape, Weft_LayoutAttr:$from, Weft_LayoutAttr:$to),
        "$source `to` $target `of` $shape `from` $from `into` $to", "type($source) `to` type($target)", [{
          ::weft::SubAxes getGroupAxes();
          ::weft::SubAxes getLinks();
          int64_t getBytesSent();
        }], (ins)> {
  let description = [{
    `plan.exchange %a to %b of [16, 16] from #a into #b : memref<8x16xf32> to memref<16x8xf32>`,
    with the global shape, among all devices of the mesh. (C1) source and target
    have the local shapes of the two layouts; (C2) neither is partial.
  }];
}
def Plan_PermuteOp : Plan_LayoutMoveOp<"permute", "each device sends its whole block to one other">;
def Plan_ExchangeOp : Plan_LayoutMoveOp<"exchange", "each device receives exactly the elements that it lacks">;

def Plan_HostCallOp : Plan_CollectiveOp<"host_call", "calls a function of the host, once for each group", [AttrSizedOperandSegments]> {
  let description = [{
    `plan.host_call 7(%a, %b) to (%c) over #group : (memref<..>, memref<..>) to (memref<..>)`,
    with the sources of the group's first member; all members get the results.
    (C1) the number is not negative.
  }];
  let arguments = (ins I64Attr:$function, Variadic<AnyStaticShapeMemRef>:$sources, Variadic<AnyStaticShapeMemRef>:$targets,
                       Weft_LayoutAttr:$group, OptionalAttr<StrAttr>:$reason, OptionalAttr<I64Attr>:$times);
  let assemblyFormat = [{
    $function `(` $sources `)` `to` ` ` `(` $targets `)` `over` $group (`reason` $reason^)? (`times` $times^)? attr-dict
    `:` `(` type($sources) `)` `to` ` ` `(` type($targets) `)`
  }];
  let extraClassDeclaration = Plan_InGroup;
}

//===----------------------------------------------------------------------===//
// Ops on one device
//===----------------------------------------------------------------------===//

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
