//===- ProgramPorts.cpp - inputs and outputs of a program file ------------===//

#include "weft/tools/weft/programs/ProgramPorts.h"

#include "weft/training/Ports.h"

#include <algorithm>
#include <array>

using namespace weft;

using PortRow = std::array<std::string, 6>;

static void addRows(const char *direction, const std::vector<weft_port> &ports,
                    std::vector<PortRow> &rows) {
  for (const weft_port &port : ports)
    rows.push_back({direction, port.name, weft_role_name(port.role),
                    text(Shape(port.shape, port.shape + port.rank)),
                    std::string(name(ElementType(port.dtype))), port.layout});
}

std::vector<weft_port> weft::tool::describePorts(const weft_program *program,
                                                 bool areInputs) {
  std::vector<weft_port> ports(areInputs ? weft_program_input_count(program)
                                         : weft_program_output_count(program));
  for (size_t i = 0; i < ports.size(); ++i) // existing numbers only
    weft_error_free((areInputs ? weft_program_input
                               : weft_program_output)(program, i, &ports[i]));
  return ports;
}

weft_program_info weft::tool::describeProgram(const weft_program *program) {
  weft_program_info info;
  weft_error_free(weft_program_describe(program, &info));
  return info;
}

std::string weft::tool::portTable(const weft_program *program) {
  std::vector<PortRow> rows;
  addRows("input", describePorts(program, true), rows);
  addRows("output", describePorts(program, false), rows);
  std::array<size_t, 6> width{};
  for (const PortRow &row : rows)
    for (size_t c = 0; c < row.size(); ++c)
      width[c] = std::max(width[c], row[c].size());
  weft_program_info info = describeProgram(program);
  std::string mesh = info.mesh;
  std::string out = (mesh.empty() ? "one device" : "mesh " + mesh) +
                    "; compiled for " + info.target + "\n\n";
  for (const PortRow &row : rows) {
    for (size_t c = 0; c + 1 < row.size(); ++c)
      out += row[c] + std::string(width[c] - row[c].size() + 2, ' ');
    out += row.back() + "\n";
  }
  return out;
}
