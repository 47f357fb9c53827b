//===- ElementCode.td - facts about ops for code generators ------------------//
//
// Ops of weft and coll get these interfaces by the functions of
// AttachElements.h; an embedder's op gets an external model and then has
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
    InterfaceMethod<[{
      Where the code of an element changes: dimensions of the result with a
      position in them, such as the end of a concatenated operand. A CPU's loops
      end there, so that each has one case.
    }], "::llvm::SmallVector<std::pair<int64_t, int64_t>>", "getCuts", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/[{ return {}; }]>,
  ];
}

def TermCodeOpInterface : OpInterface<"TermCodeOpInterface"> {
  let cppNamespace = "::weft::elements";
  let description = [{
    An op of one result, each element of which is combined from terms: the
    products of a contraction, the elements that a reduction reads. How many
    there are is said by nest::OpLoopsInterface.
  }];
  let methods = [
    InterfaceMethod<[{ How they are combined. }], "::weft::ReduceKind", "getCombination", (ins)>,
    InterfaceMethod<[{
      The term at `term` of the element at `position`, in the compute type of the
      result, computed in the innermost open loop. Failure after an error on the
      op.
    }], "::mlir::FailureOr<::mlir::Value>", "emitTerm",
      (ins "::weft::elements::ElementEmitter &":$emitter, "::llvm::ArrayRef<::mlir::Value>":$position,
           "::llvm::ArrayRef<::mlir::Value>":$term)>,
    InterfaceMethod<[{
      Of an op with nest::ProductDims: the factor of the term that operand
      `number` gives, in the compute type of that operand. Of `position` it reads
      the dimensions that the factor follows.
    }], "::mlir::FailureOr<::mlir::Value>", "emitFactor",
      (ins "::weft::elements::ElementEmitter &":$emitter, "unsigned":$number,
           "::llvm::ArrayRef<::mlir::Value>":$position, "::llvm::ArrayRef<::mlir::Value>":$term),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return $_op->emitError() << "'" << $_op->getName() << "' has no factors";
      }]>,
  ];
}

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_ELEMENTCODE
