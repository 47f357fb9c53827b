//===- WeftAttributes.td - meshes and layouts as attributes ------------------//

#ifndef WEFT_DIALECTS_WEFT_ATTRIBUTES
#define WEFT_DIALECTS_WEFT_ATTRIBUTES

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/IR/OpBase.td"

def Weft_Dialect : Dialect {
  let name = "weft";
  let cppNamespace = "::weft";
  let summary = "A tensor program on global values, with layouts.";
  let description = [{
    The computation. Ops follow StableHLO's meaning; each declares its sharding
    rule and its derivative through interfaces. Between the stages `sharded`
    and `partitioned` every tensor type carries its layout as encoding.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{ void registerAttributes(); }];
}

class Weft_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Weft_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Weft_MeshAttr : Weft_Attr<"Mesh", "mesh"> {
  let summary = "Devices in a grid of named axes.";
  let description = [{
    `#weft.mesh<"data"=2, "model"=4>`; with a device order and a topology
    (latency in seconds, bandwidth in bytes a second):
    `#weft.mesh<"data"=2, "model"=4, devices = [0, 2, 4, 6, 1, 3, 5, 7], latency = [1e-6, 1e-6], bandwidth = [1e10, 1e11]>`.

    (C1) axis names are distinct; (C2) sizes are positive; (C3) as many device
    ids as devices, each once.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names,
                        ArrayRefParameter<"int64_t">:$sizes,
                        OptionalArrayRefParameter<"int64_t">:$devices,
                        OptionalArrayRefParameter<"::mlir::FloatAttr">:$latency,
                        OptionalArrayRefParameter<"::mlir::FloatAttr">:$bandwidth);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::weft::Mesh getMesh() const;
    static MeshAttr get(::mlir::MLIRContext *context, const ::weft::Mesh &mesh);
  }];
}

def Weft_LayoutAttr : Weft_Attr<"Layout", "layout",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "The layout of one tensor on a mesh.";
  let description = [{
    `#weft.layout<#mesh, [{"data"}, {"model":(2)2} ]>`, with partial values
    `#weft.layout<#mesh, [ {}, {} ], partial = sum{"model"} >`; of a value that only
    the devices with a coordinate hold, `#weft.layout<#mesh, [{"data"}, {} ], at =
    {"branch" = 1}>`. See Layout.h and MeshPart.h.

    (C1) every axis exists in the mesh; (C2) no part of an axis is used twice;
    (C3) a sub-axis divides its axis; (C4) as a tensor's encoding, one list of
    axes for each dimension; (C5) `at` has a coordinate in range for each of
    its axes, which the layout does not use.
  }];
  // `code` is the layout in words: see Attributes.cpp.
  let parameters = (ins "::weft::MeshAttr":$mesh, ArrayRefParameter<"int64_t">:$code);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::weft::Layout getLayout() const;
    static LayoutAttr get(::weft::MeshAttr mesh, const ::weft::Layout &layout);
  }];
}

def Weft_BoxesAttr : Weft_Attr<"Boxes", "boxes"> {
  let summary = "Where the elements of a result come from.";
  let description = [{
    Each box has ranges of positions of the result as start:count or
    start:count:step, the number of an operand, and for each dimension of that the
    place that it reads, a number or a result's dimension with a stride and an
    offset. The first two of 6 elements are the last ones in opposite order, and
    the others are one element of a second operand:
    `#weft.boxes<[0:2] of 0 at [d0 * -1 + 5], [2:4] of 1 at [3]>`.
    d0 counts from 0 in each box. See MovedBoxes.h.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$code);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::weft::MovedBoxes getBoxes() const;
    static BoxesAttr get(::mlir::MLIRContext *context, const ::weft::MovedBoxes &boxes);
  }];
}

def Weft_SourceAttr : Weft_Attr<"Source", "source"> {
  let summary = "An array of a global shape in a layout, which boxes read.";
  let description = [{ `#weft.source<[2] in #layout>`. See MovedBoxes.h. }];
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$shape, "::weft::LayoutAttr":$layout);
  let assemblyFormat = "`<` `[` (`]`) : ($shape^ `]`)? `in` $layout `>`";
  let extraClassDeclaration = [{
    ::weft::MovedSource getSource() const { return {getShape().vec(), getLayout().getLayout()}; }
  }];
}
def Weft_SourcesAttr : TypedArrayAttrBase<Weft_SourceAttr, "arrays that boxes read"> {
  let constBuilderCall = "$_builder.getArrayAttr($0)";
}

// A partial or reduced kind, spelled sum, max, min, prod, and, or; the C++
// enum is weft::ReduceKind of Layout.h.
def Weft_ReduceKindAttr : Weft_Attr<"ReduceKind", "reduce_kind"> {
  let summary = "combines elements: sum, max, min, prod, and, or";
  let parameters = (ins "::weft::ReduceKind":$value);
  let assemblyFormat = "$value";
  // Getters of ops return the enum itself.
  let returnType = "::weft::ReduceKind";
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall = "::weft::ReduceKindAttr::get($_builder.getContext(), $0)";
}
def Weft_CompareKind : I32Enum<"CompareKind", "a comparison",
    [I32EnumCase<"EQ", 0, "eq">, I32EnumCase<"NE", 1, "ne">,
     I32EnumCase<"LT", 2, "lt">, I32EnumCase<"LE", 3, "le">,
     I32EnumCase<"GT", 4, "gt">, I32EnumCase<"GE", 5, "ge">]> {
  let cppNamespace = "::weft";
}
def Weft_CompareKindAttr : EnumAttr<Weft_Dialect, Weft_CompareKind, "compare_kind"> {
  let assemblyFormat = "$value";
}
def Weft_KernelKind : I32Enum<"KernelKind", "the kind of a kernel's loops",
    [I32EnumCase<"Elementwise", 0, "elementwise">, I32EnumCase<"Reduce", 1, "reduce">,
     I32EnumCase<"Dot", 2, "dot">, I32EnumCase<"General", 3, "general">]> {
  let cppNamespace = "::weft";
}
// `#weft.kernel<elementwise>` on a function makes it a kernel. An elementwise
// kernel has one loop nest, and an argument of the type of a result may be in
// that result's memory.
def Weft_KernelKindAttr : EnumAttr<Weft_Dialect, Weft_KernelKind, "kernel"> {
  let assemblyFormat = "`<` $value `>`";
}
def Weft_ScatterKind : I32Enum<"ScatterKind", "how an update changes an element",
    [I32EnumCase<"Set", 0, "set">, I32EnumCase<"Sum", 1, "sum">,
     I32EnumCase<"Prod", 2, "prod">, I32EnumCase<"Max", 3, "max">,
     I32EnumCase<"Min", 4, "min">, I32EnumCase<"And", 5, "and">,
     I32EnumCase<"Or", 6, "or">]> {
  let cppNamespace = "::weft";
}
def Weft_ScatterKindAttr : EnumAttr<Weft_Dialect, Weft_ScatterKind, "scatter_kind"> {
  let assemblyFormat = "$value";
}
def Weft_ScanKind : I32Enum<"ScanKind", "the operation of a cumulative op",
    [I32EnumCase<"Sum", 0, "sum">, I32EnumCase<"Prod", 1, "prod">,
     I32EnumCase<"Max", 2, "max">, I32EnumCase<"Min", 3, "min">,
     I32EnumCase<"LogSumExp", 4, "logsumexp">]> {
  let cppNamespace = "::weft";
}
def Weft_ScanKindAttr : EnumAttr<Weft_Dialect, Weft_ScanKind, "scan_kind"> {
  let assemblyFormat = "$value";
}
def Weft_Precision : I32Enum<"Precision", "how exact products of floats are, where a device has several ways",
    [I32EnumCase<"Default", 0, "default">, I32EnumCase<"High", 1, "high">,
     I32EnumCase<"Highest", 2, "highest">, I32EnumCase<"Tf32", 3, "tf32">]> {
  let cppNamespace = "::weft";
}
def Weft_PrecisionAttr : EnumAttr<Weft_Dialect, Weft_Precision, "precision"> {
  let assemblyFormat = "$value";
}

#endif // WEFT_DIALECTS_WEFT_ATTRIBUTES
