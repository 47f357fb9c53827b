//===- SerializePlan.h - plan.program to the runtime's file -----*- C++ -*-===//

#ifndef WEFT_COMPILER_PROGRAM_SERIALIZEPLAN_H
#define WEFT_COMPILER_PROGRAM_SERIALIZEPLAN_H

#include "weft/dialects/plan/Plan.h"

#include <vector>

namespace weft {

/// Texts that are stored in a plan; JSON or empty.
struct PlanTexts {
  std::string target;      ///< cpu:avx512, ...
  std::string explanation; ///< prediction of `weft explain`
  std::string metadata;    ///< the front end's model
};

/// The FlatBuffer of runtime/abi/plan.fbs. Fails with an error on an op whose
/// element type the runtime lacks.
llvm::FailureOr<std::vector<uint8_t>> serializePlan(plan::ProgramOp program,
                                                    const PlanTexts &texts);

} // namespace weft

#endif // WEFT_COMPILER_PROGRAM_SERIALIZEPLAN_H
