//===- PlannedFlow.td - loops, branches and data of a plan -------------------//

#ifndef WEFT_DIALECTS_WEFT_PLANNEDFLOW
#define WEFT_DIALECTS_WEFT_PLANNEDFLOW

include "mlir/IR/OpBase.td"

def PlannedLoopOpInterface : OpInterface<"PlannedLoopOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    A loop that a plan makes jumps of. Its operands are the initial values of
    what it carries: the arguments of the condition's block. The values that the
    condition passes on are the arguments of the body, and the results in the
    end; the body yields the carried values of the next iteration.
  }];
  let methods = [
    InterfaceMethod<"Returns the block that decides whether the body runs.", "::mlir::Block &", "getConditionBlock">,
    InterfaceMethod<"Returns the body.", "::mlir::Block &", "getBodyBlock">,
    InterfaceMethod<"Returns the i1 of the condition: whether the body runs.", "::mlir::Value", "getDecision">,
    InterfaceMethod<"Returns the values that the condition passes on.", "::mlir::OperandRange", "getPassedOn">,
  ];
}

def PlannedBranchOpInterface : OpInterface<"PlannedBranchOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    A choice between two regions that a plan makes jumps of. Its first operand
    is an i1, which chooses the first region where it is true; the others are
    the arguments of both regions, which yield the results.
  }];
  let methods = [
    InterfaceMethod<"Returns the i1 that chooses.", "::mlir::Value", "getDecision", (ins), "",
      "return $_op->getOperand(0);">,
    InterfaceMethod<"Returns the values that the regions take.", "::mlir::OperandRange", "getPassed", (ins), "",
      "return $_op->getOperands().drop_front();">,
  ];
}

def PlannedPartOpInterface : OpInterface<"PlannedPartOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    A region that only the devices of a part of the mesh run; a plan lets the others jump. Its operands are the
    arguments of the region, which yields the results.
  }];
  let methods = [
    InterfaceMethod<"Returns the part, as a layout without dimensions.", "::weft::LayoutAttr", "getPlaceOfPart">,
  ];
}

def PlannedDataOpInterface : OpInterface<"PlannedDataOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{ An op whose only result is data that the plan holds. }];
  let methods = [
    InterfaceMethod<"Returns the data.", "::mlir::ElementsAttr", "getData">,
  ];
}

def PlannedCallOpInterface : OpInterface<"PlannedCallOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    An op on local tensors that the runtime of a device computes by a library:
    a plan launches it as a plan.builtin. No kernel contains it.
  }];
  let methods = [
    InterfaceMethod<"Returns the name by which the runtime knows it: lapack.dgetrf.", "std::string", "getBuiltinName">,
    InterfaceMethod<"Returns sizes and options.", "std::vector<int64_t>", "getBuiltinParameters">,
    InterfaceMethod<"Returns about how many multiply-adds it takes.", "double", "getOperations">,
  ];
}

#endif // WEFT_DIALECTS_WEFT_PLANNEDFLOW
