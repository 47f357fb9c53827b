//===- OpLoops.td - facts about ops that the choice of nests needs -----------//
//
// Weft's ops are in the table of OpLoops.cpp; an embedder's op gets the
// interface as an external model.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_NEST_OPLOOPS
#define WEFT_DIALECTS_NEST_OPLOOPS

include "mlir/IR/OpBase.td"

def OpLoopsInterface : OpInterface<"OpLoopsInterface"> {
  let cppNamespace = "::weft::nest";
  let description = [{
    Properties of the loops that can compute an op, known from the op alone.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether an element of the only result follows from its row-major position
      alone.
    }], "::weft::nest::Flatness", "getFlatness", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return ::weft::nest::Flatness::Never;
      }]>,
    InterfaceMethod<[{
      Where the elements of the result are when the first operand is in memory:
      nothing where they are not a view of that.
    }], "::std::optional<::weft::nest::Strides>", "getView",
      (ins "const ::weft::nest::Strides &":$operand),
      /*methodBody=*/"", /*defaultImplementation=*/[{ return {}; }]>,
    InterfaceMethod<[{
      Of an op with the trait OwnLoopNest: how its loops can be shared among
      workers or threads, and how much memory they need; the default: not, and
      none.
    }], "::weft::nest::OwnLoops", "getOwnLoops", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/[{ return {}; }]>,
    InterfaceMethod<[{
      Of an op of one result, each element of which is combined from terms: how
      many there are, by their dimensions; nothing where there are none.
    }], "::std::optional<::llvm::SmallVector<int64_t>>", "getTermSizes", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/[{ return {}; }]>,
    InterfaceMethod<[{
      Of an op whose terms are products of an element of its first operand and
      one of its second: which dimensions of the result both follow, which the
      first alone, and which the second; nothing where some follow neither.
    }], "::std::optional<::weft::nest::ProductDims>", "getProductDims", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/[{ return {}; }]>,
    InterfaceMethod<[{
      Of an op whose terms are products: how exact it asks them to be.
    }], "::weft::Precision", "getProductPrecision", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return ::weft::Precision::Default;
      }]>,
    InterfaceMethod<[{
      Returns the walk (Nest.td) by which a target computes an op with loops
      fastest; by default the op's own loops.
    }], "::mlir::Attribute", "chooseWalk",
      (ins "const ::weft::nest::TargetLimits &":$limits,
           "::weft::nest::IsInMemory":$isInMemory),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return ::weft::nest::ownWalk($_op);
      }]>,
    InterfaceMethod<[{
      The order of dimensions in which a target reads an operand fastest from
      memory, where a copy in that order takes less time than it saves: of one
      that is read in place in another order, or, as it is, of one that is not in
      memory and read many times; nothing elsewhere.
    }], "::std::optional<::llvm::SmallVector<int64_t>>", "getStoredOrder",
      (ins "unsigned":$operand, "const ::weft::nest::TargetLimits &":$limits,
           "::weft::nest::IsInMemory":$isInMemory),
      /*methodBody=*/"", /*defaultImplementation=*/[{ return {}; }]>,
    InterfaceMethod<[{
      How workers can share a dimension of the result where the nest walks as
      said; the default: they cannot.
    }], "::std::optional<::weft::nest::SharedRows>", "getSharedRows",
      (ins "::mlir::Attribute":$walk, "::weft::nest::IsInMemory":$isInMemory,
           "const ::weft::nest::TargetLimits &":$limits),
      /*methodBody=*/"", /*defaultImplementation=*/[{ return {}; }]>,
  ];
}

#endif // WEFT_DIALECTS_NEST_OPLOOPS
