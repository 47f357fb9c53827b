//===- ElementCode.td - what an op is to a code generator --------------------//
//
// Ops of weft and coll get these interfaces in ScalarCode.cpp and
// ElementCode.cpp; an embedder's op gets one as an external model and then has
// code on every processor.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_ELEMENTCODE
#define WEFT_COMPILER_CODEGEN_ELEMENTS_ELEMENTCODE

include "mlir/IR/OpBase.td"

def ScalarCodeOpInterface : OpInterface<"ScalarCodeOpInterface"> {
  let cppNamespace = "::weft::elements";
  let description = [{
    An elementwise op on registers: an element of its only result from the
    elements of all operands at the same position.
  }];
  let methods = [
    InterfaceMethod<[{
      The result, in its compute type (Registers.h); null where the element
      types have no code.
    }], "::mlir::Value", "emitScalar",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands)>,
  ];
}

def ElementCodeOpInterface : OpInterface<"ElementCodeOpInterface"> {
  let cppNamespace = "::weft::elements";
  let description = [{
    An op of one result whose element is found at other positions of its
    operands, or comes from none.
  }];
  let methods = [
    InterfaceMethod<[{
      The element of the result at a position, in its compute type. Failure
      after an error on the op.
    }], "::mlir::FailureOr<::mlir::Value>", "emitElement",
      (ins "::weft::elements::ElementEmitter &":$emitter,
           "const ::weft::elements::ElementIndex &":$index)>,
  ];
}

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_ELEMENTCODE
