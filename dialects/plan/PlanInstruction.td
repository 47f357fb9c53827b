//===- PlanInstruction.td - ops that become one instruction ------------------//

#ifndef WEFT_DIALECTS_PLAN_INSTRUCTION
#define WEFT_DIALECTS_PLAN_INSTRUCTION

include "mlir/IR/Interfaces.td"

def Plan_InstructionOpInterface : OpInterface<"PlanInstructionOpInterface"> {
  let cppNamespace = "::weft::plan";
  let description = [{
    An op on local tensors that becomes the start of a collective on their
    buffers, and a wait: collectives and calls of the host. No kernel holds it.
  }];
  let methods = [
    InterfaceMethod<"What the group does; its bytes and its links follow.",
      "::weft::plan::CommunicationAttrInterface", "getCommunication">,
    InterfaceMethod<"The digits in which a group's devices differ: a layout of rank 1.",
      "::weft::LayoutAttr", "getCommunicatingGroup", (ins), "", [{ return $_op.getGroup(); }]>,
    InterfaceMethod<"The name in reports, budgets and counters.",
      "::llvm::StringRef", "getCollectiveName", (ins), "", [{ return $_op->getName().stripDialect(); }]>,
    InterfaceMethod<"Provenance, one line for people, or null.",
      "::mlir::StringAttr", "getProvenance", (ins), "",
      [{ return $_op->template getAttrOfType<::mlir::StringAttr>("reason"); }]>,
  ];
  let extraClassDeclaration = [{
    /// The axes along which something moves.
    ::weft::SubAxes getLinks();
    /// Bytes that the busiest device sends to others each time.
    int64_t getBytesSent();
    /// Does result n depend on operand n alone?
    bool keepsArraysApart() { return ::weft::keepsArraysApart(getCommunication().getCommunication()); }
    /// May result n have the buffer of operand n? It may where an element is
    /// stored only after all loads of the same element.
    bool worksInPlace() { return ::weft::worksInPlace(getCommunication().getCommunication()); }
  }];
}

#endif // WEFT_DIALECTS_PLAN_INSTRUCTION
