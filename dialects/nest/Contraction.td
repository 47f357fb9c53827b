//===- Contraction.td - ops that are contractions ----------------------------//
//
// An embedder's op gets the interface as an external model, as weft.dot does.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_NEST_CONTRACTION
#define WEFT_DIALECTS_NEST_CONTRACTION

include "mlir/IR/OpBase.td"

def ContractionInterface : OpInterface<"ContractionInterface"> {
  let cppNamespace = "::weft::nest";
  let description = [{ Of an op with the trait ContractionNest. }];
  let methods = [
    InterfaceMethod<[{
      How its loops step through operands that are views of values in memory,
      and through the result; nothing where an operand is no view.
    }], "::std::optional<::weft::nest::ContractionShape>", "getContraction",
      (ins "::weft::nest::IsInMemory":$isInMemory)>,
  ];
}

#endif // WEFT_DIALECTS_NEST_CONTRACTION
