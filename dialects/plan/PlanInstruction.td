//===- PlanInstruction.td - ops that become one instruction ------------------//

#ifndef WEFT_DIALECTS_PLAN_INSTRUCTION
#define WEFT_DIALECTS_PLAN_INSTRUCTION

include "mlir/IR/Interfaces.td"

def Plan_InstructionOpInterface : OpInterface<"PlanInstructionOpInterface"> {
  let cppNamespace = "::weft::plan";
  let description = [{
    An op on local tensors that becomes one instruction on their buffers:
    collectives and calls of the host. No kernel holds it.
  }];
  let methods = [
    InterfaceMethod<[{
      Creates the instruction. `sources` are the buffers of the operands,
      `targets` those of the results. `times` says how often it happens in a
      step: 0 that nobody knows, null once.
    }], "void", "createInstruction",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$sources,
           "::mlir::ValueRange":$targets, "::mlir::IntegerAttr":$times)>,
    InterfaceMethod<[{
      May result n have the buffer of operand n? It may where an element is
      stored only after all loads of the same element.
    }], "bool", "worksInPlace", (ins), "", [{ return false; }]>,
  ];
}

#endif // WEFT_DIALECTS_PLAN_INSTRUCTION
