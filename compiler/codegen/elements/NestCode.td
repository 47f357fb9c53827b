//===- NestCode.td - ops with separate loop nests ----------------------------//
//
// Weft's ops are in the table of NestCode.cpp; an embedder's op with the trait
// OwnLoopNest gets the interface as an external model.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_NESTCODE
#define WEFT_COMPILER_CODEGEN_ELEMENTS_NESTCODE

include "mlir/IR/OpBase.td"

def NestCodeOpInterface : OpInterface<"NestCodeOpInterface"> {
  let cppNamespace = "::weft::elements";
  let description = [{
    An op with the trait OwnLoopNest: the loops that compute its results.
    nest::OpLoopsInterface says how they can be shared, and how much memory they
    need.
  }];
  let methods = [
    InterfaceMethod<[{
      Emits the loops, which store every element of every result where
      `emitter.memoryOf` says. Failure after an error on the op.
    }], "::llvm::LogicalResult", "emitNest",
      (ins "::weft::elements::ElementEmitter &":$emitter)>,
  ];
}

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_NESTCODE
