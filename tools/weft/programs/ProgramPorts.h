//===- ProgramPorts.h - inputs and outputs of a program file ----*- C++ -*-===//
//
//   mesh data=2, model=4; compiled for cpu:avx512
//
//   input   d1/kernel  weight  (784, 512)  float32  [-,model]
//   input   x          input   (128, 784)  float32  [data,-]
//   output  y          output  (128, 10)   float32  [data,-]
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_PROGRAMS_PROGRAMPORTS_H
#define WEFT_TOOLS_WEFT_PROGRAMS_PROGRAMPORTS_H

#include "weft/runtime/abi/weft.h"

#include <string>
#include <vector>

namespace weft::tool {

/// The table above, each line ended.
std::string portTable(const weft_program *program);
std::vector<weft_port> describePorts(const weft_program *program,
                                     bool areInputs);
weft_program_info describeProgram(const weft_program *program);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_PROGRAMS_PROGRAMPORTS_H
