//===- TypedData.td - ops whose attributes repeat a result's type ------------//

#ifndef WEFT_DIALECTS_WEFT_TYPEDDATA
#define WEFT_DIALECTS_WEFT_TYPEDDATA

include "mlir/IR/OpBase.td"

def TypedDataOpInterface : OpInterface<"TypedDataOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    An op with an attribute of its result's type (arith.constant), which a
    layout changes, too.
  }];
  let methods = [
    InterfaceMethod<"Gives the result, and the attribute, another type of the same shape.",
      "void", "setResultType", (ins "::mlir::Type":$type)>,
  ];
}

#endif // WEFT_DIALECTS_WEFT_TYPEDDATA
