//===- UpdatedOperand.td - ops that change a part of an operand --------------//

#ifndef WEFT_DIALECTS_WEFT_UPDATEDOPERAND
#define WEFT_DIALECTS_WEFT_UPDATEDOPERAND

include "mlir/IR/OpBase.td"

// UpdatedOperand.h has an example.
def UpdatesOperandOpInterface : OpInterface<"UpdatesOperandOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    An op whose only result is a copy of one operand in which some elements are
    replaced, or combined with others. Where its kernel may write in that
    operand's memory, the op's own loops (NestCodeOpInterface,
    OpLoopsInterface) visit these elements alone, and read no other element of
    that operand than the one that they write.
  }];
  let methods = [
    InterfaceMethod<"The number of the operand, which has the result's type.",
      "unsigned", "getUpdatedOperand", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/[{ return 0; }]>,
  ];
}

#endif // WEFT_DIALECTS_WEFT_UPDATEDOPERAND
