//===- ReaderDialects.h - StableHLO read by stock MLIR ----------*- C++ -*-===//
//
// Private to the StableHLO front end. Four dialects without ops, whose hooks
// read JAX's programs. Every op becomes a generic, unregistered op with builtin
// attributes and types, whichever form the program has:
//
//   %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ...
//   "vhlo.dot_general_v2"(%a, %b) {...}          (in a portable artifact)
//
// both become (the second keeps its name)
//
//   %0 = "stablehlo.dot_general"(%a, %b) {lhs_contracting_dimensions = [1],
//        rhs_contracting_dimensions = [0], ...}
//
// Enumerations are strings ("LT"). A sharding is a dictionary:
//
//   <@mesh, [{"data"}, {"model":(1)2, ?}p1], replicated={"x"}>
//   {mesh = "mesh", replicated = ["x"], unreduced = [], dims =
//     [{axes = ["data"], closed = true, priority = 0},
//      {axes = [["model", 1, 2]], closed = false, priority = 1}]}
//
// A mesh is a dictionary {names = ["data"], sizes = [2], devices = []}.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_READER_READERDIALECTS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_READER_READERDIALECTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OpImplementation.h"

namespace weft::stablehlo {

/// Adds stablehlo, chlo, sdy and vhlo.
void registerReaderDialects(mlir::DialectRegistry &registry);

/// Parses an op in the form in which StableHLO, CHLO and Shardy print it.
mlir::ParseResult parsePrettyOp(mlir::OpAsmParser &parser,
                                mlir::OperationState &state);

/// Parse the forms of reduce, while, convolution, and manual_computation or
/// named_computation.
mlir::ParseResult parseReduce(mlir::OpAsmParser &parser,
                              mlir::OperationState &state);
mlir::ParseResult parseWhile(mlir::OpAsmParser &parser,
                             mlir::OperationState &state);
mlir::ParseResult parseManualComputation(mlir::OpAsmParser &parser,
                                         mlir::OperationState &state);
mlir::ParseResult parseConvolution(mlir::OpAsmParser &parser,
                                   mlir::OperationState &state);

/// Parse ops that Shardy's export inserts: collectives, and data flow edges.
mlir::ParseResult parseShardyCollective(mlir::OpAsmParser &parser,
                                        mlir::OperationState &state);
/// Skips {"x"}, [{"x"}, {}] or [{"x"}: 0->1], which the shardings imply.
mlir::ParseResult skipMovedAxes(mlir::AsmParser &parser);
mlir::ParseResult parseDataFlowEdge(mlir::OpAsmParser &parser,
                                    mlir::OperationState &state);

/// Parses `: (types) -> types`, `: types`, or nothing for a return without
/// operands; resolves the operands.
mlir::ParseResult
parseOpTypes(mlir::OpAsmParser &parser, mlir::OperationState &state,
             llvm::ArrayRef<mlir::OpAsmParser::UnresolvedOperand> operands);

/// Parses #stablehlo.NAME<...> and #stablehlo<NAME ...>.
mlir::Attribute parseStablehloAttribute(mlir::DialectAsmParser &parser);
/// Parses [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f] to one attribute for each
/// entry.
mlir::ParseResult parseConvolutionDims(mlir::AsmParser &parser,
                                       mlir::NamedAttrList &out);

/// Parses #sdy.NAME<...>.
mlir::Attribute parseShardyAttribute(mlir::DialectAsmParser &parser);
/// Parses <@mesh, [...], ...> and [<...>, ...].
mlir::ParseResult parseSharding(mlir::AsmParser &parser, mlir::Attribute &out);
mlir::ParseResult parseShardings(mlir::AsmParser &parser, mlir::Attribute &out);
/// Parses <["data"=2, "model"=4], device_ids=[...]>.
mlir::ParseResult parseMesh(mlir::AsmParser &parser, mlir::Attribute &out);
/// Parses {"x", "y":(1)2}.
mlir::ParseResult parseAxisList(mlir::AsmParser &parser, mlir::Attribute &out);

/// Make the dictionaries described above, for text and artifacts.
mlir::Attribute makeSharding(mlir::Attribute mesh,
                             llvm::ArrayRef<mlir::Attribute> dims,
                             mlir::Attribute replicated,
                             mlir::Attribute unreduced);
mlir::Attribute makeShardedDim(mlir::ArrayAttr axes, bool closed,
                               int64_t priority);
mlir::Attribute makeMesh(mlir::MLIRContext *context,
                         llvm::ArrayRef<mlir::Attribute> names,
                         llvm::ArrayRef<mlir::Attribute> sizes,
                         llvm::ArrayRef<int64_t> devices);
mlir::Attribute makeSubAxis(mlir::StringAttr name, int64_t skip, int64_t size);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_READER_READERDIALECTS_H
