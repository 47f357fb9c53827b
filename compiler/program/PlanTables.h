//===- PlanTables.h - attributes and ops as tables of plan.fbs --*- C++ -*-===//

#ifndef WEFT_COMPILER_PROGRAM_PLANTABLES_H
#define WEFT_COMPILER_PROGRAM_PLANTABLES_H

#include "weft/dialects/plan/Plan.h"
#include "weft/runtime/abi/plan_generated.h"

#include "llvm/ADT/MapVector.h"

namespace weft {

/// The runtime's element type for a type; nothing if it has none.
std::optional<plan::DType> dtypeOf(mlir::Type type);

std::vector<plan::SubAxis> subAxes(llvm::ArrayRef<SubAxis> axes);
flatbuffers::Offset<plan::Layout>
writeLayout(flatbuffers::FlatBufferBuilder &builder, const Layout &layout);
/// The table of a part of the mesh; none for the whole mesh.
flatbuffers::Offset<plan::MeshPart>
writePart(flatbuffers::FlatBufferBuilder &builder, const Mesh &mesh,
          const MeshPart &part);

/// Writes the start of a collective; `sources` and `targets` are the numbers of
/// the op's buffers.
flatbuffers::Offset<plan::Start>
writeStart(flatbuffers::FlatBufferBuilder &builder, plan::StartOp op,
           const std::vector<uint32_t> &sources,
           const std::vector<uint32_t> &targets);

/// The kernels that a program's launches name, with the fallbacks of library
/// contractions, numbered in order, and the modules of device kernels.
class KernelTables {
public:
  KernelTables(plan::ProgramOp program,
               flatbuffers::FlatBufferBuilder &builder [[clang::lifetimebound]])
      : program(program), builder(builder) {}

  /// The number of a kernel. A kernel that is no op of the plan dialect is a
  /// function of the host.
  uint32_t numberOf(mlir::StringAttr kernel);

  struct Tables {
    std::vector<flatbuffers::Offset<plan::Kernel>> kernels;
    std::vector<flatbuffers::Offset<plan::DeviceModule>> modules;
  };
  /// Writes the tables. Fails with an error on a contraction whose sums have a
  /// type that the runtime lacks.
  llvm::FailureOr<Tables> write();

private:
  mlir::Operation *find(mlir::StringAttr symbol) const;
  llvm::FailureOr<flatbuffers::Offset<plan::Kernel>>
  write(mlir::StringAttr symbol);
  llvm::FailureOr<flatbuffers::Offset<void>>
  write(plan::LibraryContractionOp op);

  plan::ProgramOp program;
  flatbuffers::FlatBufferBuilder &builder;
  llvm::MapVector<mlir::StringAttr, uint32_t> kernels;
  llvm::MapVector<mlir::StringAttr, uint32_t> modules;
};

} // namespace weft

#endif // WEFT_COMPILER_PROGRAM_PLANTABLES_H
