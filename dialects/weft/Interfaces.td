//===- Interfaces.td - interfaces of ops for passes --------------------------//

#ifndef WEFT_DIALECTS_WEFT_INTERFACES
#define WEFT_DIALECTS_WEFT_INTERFACES

include "mlir/IR/OpBase.td"

def ShardingRuleOpInterface : OpInterface<"ShardingRuleOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    All that the sharding passes know of an op: its rule, and how the local op
    is built from local operands. An embedder attaches it to its own ops as an
    external model.
  }];
  let methods = [
    InterfaceMethod<[{
      The rule for the op's global shapes. Factors of every dimension of every
      ranked-tensor operand and result.
    }], "::weft::ShardingRule", "getShardingRule", (ins)>,
    InterfaceMethod<[{
      Builds the op on local operands; returns one value for each result, of
      the given local types. The default clones with local types. Ops that
      depend on positions ask `placement` where the local block starts. An op
      with factors of kind scan, select, lookup, shift or window overrides it:
      it combines the elements that `placement` gathers, looks up those that
      the device has, and leaves out the movement of operands that were fetched.
    }], "::llvm::SmallVector<::mlir::Value>", "buildLocal",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
           "::mlir::TypeRange":$resultTypes,
           "const ::weft::LocalPlacement &":$placement),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return ::weft::cloneWithTypes(builder, $_op.getOperation(), operands, resultTypes);
      }]>,
  ];
}

def MovedBoxesOpInterface : OpInterface<"MovedBoxesOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    An op with one result whose elements are elements of operands. Chains of such
    ops are one movement (FormMoves.cpp).
  }];
  let methods = [
    InterfaceMethod<[{
      Where the elements of the result come from (MovedBoxes.h), by the operands'
      numbers; elements in no box are 0. Nothing if it is known only when the
      program runs, or is no short list of boxes.
    }], "::std::optional<::weft::MovedBoxes>", "getMovedBoxes", (ins)>,
    InterfaceMethod<[{
      The same, where dimensions of the operand that become one, or parts of
      several, may be cut into a few boxes. Layouts do not pass through these, nor
      through an op without a sharding rule, which is a movement between layouts.
    }], "::std::optional<::weft::MovedBoxes>", "getMovedParts", (ins),
    /*methodBody=*/"", /*defaultImplementation=*/[{
      return $_op.getMovedBoxes();
    }]>,
  ];
}

def FixedLayoutsOpInterface : OpInterface<"FixedLayoutsOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    An op that states the layouts of its operands and results: they are
    hints for the ops around it, and no layout passes through. It has no
    sharding rule. Along axes that it leaves free its only region is a program
    of whole values: its arguments are the operands' blocks and the operands
    of its terminator are the results'. They are sharded along these axes like all
    other values, and after the op's axes in the layouts of operands and results.
    The region of an op without free axes is the code of one device.
  }];
  let methods = [
    InterfaceMethod<"The layout that an operand is brought to.",
      "::weft::LayoutAttr", "getOperandLayout", (ins "unsigned":$operand)>,
    InterfaceMethod<"The layout in which a result is produced.",
      "::weft::LayoutAttr", "getResultLayout", (ins "unsigned":$result)>,
    InterfaceMethod<[{
      Builds the computation of one device on its blocks of the operands;
      returns its blocks of the results.
    }], "::llvm::SmallVector<::mlir::Value>", "buildOnBlocks",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$blocks)>,
    InterfaceMethod<"The axes that it leaves free; whole ones.",
      "::weft::SubAxes", "getFreeAxes", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/[{ return {}; }]>,
  ];
}

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{ Reverse-mode derivative, built from ops of the dialect. }];
  let methods = [
    InterfaceMethod<[{
      Called once, before `buildGradient`: replaces the op by an op that keeps
      the values that the derivative needs, has these as results after the old
      results, and is built at the builder's insertion point. Returns the op to
      differentiate; the default is the op as it is.
    }], "::mlir::Operation *", "saveForGradient", (ins "::mlir::OpBuilder &":$builder),
      /*methodBody=*/"", /*defaultImplementation=*/[{ return $_op.getOperation(); }]>,
    InterfaceMethod<[{
      Given the gradient of each result, builds the gradient of each operand
      that wants it (`gradients/GradientBuilder.h`). Ops are created at the
      builder's insertion point.
      Returns failure, with an error on the op, where no derivative exists.
    }], "::llvm::LogicalResult", "buildGradient",
      (ins "::weft::OpGradients &":$gradients)>,
  ];
}

def AccumulatesOpInterface : OpInterface<"AccumulatesOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    An op with one result, each element of which adds up or multiplies many
    numbers. It does so in the result's element type, which may be wider than
    the operands': their elements are extended first, which is exact. Short
    floats lose digits unless the result is f32.
  }];
  let methods = [
    InterfaceMethod<"Does it, or only pick among them?", "bool", "accumulates",
      (ins), /*methodBody=*/"", /*defaultImplementation=*/[{ return true; }]>,
  ];
}

def KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    Properties of an op for kernels that no trait of KernelTraits.h expresses.
  }];
  let methods = [
    InterfaceMethod<[{
      How many elements of an operand, not at its own position, an element of
      the result needs; 0 where it needs that one alone.
    }], "int64_t", "getElementsReadElsewhere", (ins "unsigned":$operand),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return $_op->template hasTrait<::mlir::OpTrait::Elementwise>() ? 0 : 1;
      }]>,
    InterfaceMethod<"About how many instructions it takes.", "double", "getWork",
      (ins), /*methodBody=*/"", /*defaultImplementation=*/[{
        return ::weft::workByTraits($_op);
      }]>,
  ];
}

def PlacesBlockOpInterface : OpInterface<"PlacesBlockOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    An op whose result has the elements of one operand, the block, side by side
    at some place, and others around them.
  }];
  let methods = [
    InterfaceMethod<"The block; null if not all of it is in the result, or not side by side.",
      "::mlir::Value", "getPlacedBlock", (ins)>,
    InterfaceMethod<"What is around it: an array of the result's type, one element, or null for zeros.",
      "::mlir::Value", "getAround", (ins)>,
    InterfaceMethod<"Where the block starts in the result; nothing if operands say so.",
      "::std::optional<::llvm::SmallVector<int64_t>>", "getPlace", (ins)>,
    InterfaceMethod<"Builds an op that reads the block's place of another array of the result's type.",
      "::mlir::Value", "readPlace", (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$array)>,
    InterfaceMethod<"Builds an op that writes another block there.",
      "::mlir::Value", "writePlace", (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$array, "::mlir::Value":$block)>,
  ];
}

#endif // WEFT_DIALECTS_WEFT_INTERFACES
