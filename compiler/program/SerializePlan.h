//===- SerializePlan.h - plan.program to the runtime's file -----*- C++ -*-===//

#ifndef WEFT_COMPILER_PROGRAM_SERIALIZEPLAN_H
#define WEFT_COMPILER_PROGRAM_SERIALIZEPLAN_H

#include "weft/dialects/plan/Plan.h"

#include <vector>

namespace weft {

/// Texts that are stored in a plan: a target, and JSON, which may be empty.
struct PlanTexts {
  std::string target;   ///< the target, as cpu:avx512
  std::string metadata; ///< JSON of the front end's model, or empty
};

/// The FlatBuffer of runtime/abi/plan.fbs. Fails with an error on an op with an
/// element type that the runtime lacks, or with an unknown role.
llvm::FailureOr<std::vector<uint8_t>> serializePlan(plan::ProgramOp program,
                                                    const PlanTexts &texts);

} // namespace weft

#endif // WEFT_COMPILER_PROGRAM_SERIALIZEPLAN_H
