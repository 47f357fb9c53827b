//===- InterleavedRows.td - every n-th row of a result that counts -----------//

#ifndef WEFT_DIALECTS_WEFT_INTERLEAVEDROWS
#define WEFT_DIALECTS_WEFT_INTERLEAVEDROWS

include "mlir/IR/OpBase.td"

def InterleavedRowsOpInterface : OpInterface<"InterleavedRowsOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    An op with one result, whose elements depend on their positions, that can
    compute every n-th row of it alone.
  }];
  let methods = [InterfaceMethod<[{
      Builds those rows, of the given type, or returns null where it cannot.
      The op's operands are given.
    }],
                                 "::mlir::Value", "buildRows",
                                 (ins "::mlir::OpBuilder &":$builder,
                                     "::mlir::ValueRange":$operands,
                                     "::mlir::RankedTensorType":$type,
                                     "const ::weft::InterleavedRows &":$rows)>,
  ];
}

#endif // WEFT_DIALECTS_WEFT_INTERLEAVEDROWS
