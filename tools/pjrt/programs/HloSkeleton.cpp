//===- HloSkeleton.cpp - types and shardings as XLA writes them -----------===//
//
// Message and field numbers are those of XLA's hlo.proto, xla_data.proto and
// xla.proto.
//
//===----------------------------------------------------------------------===//

#include "weft/tools/pjrt/programs/HloSkeleton.h"

#include "weft/tools/pjrt/programs/LoadProgram.h"
#include "weft/tools/pjrt/programs/MessageWriter.h"

using namespace weft;
using namespace weft::pjrt;

namespace {

constexpr int64_t kTuple = 13; // a number of PrimitiveType

/// ShapeProto.
MessageWriter shapeOf(const Port &port) {
  MessageWriter layout, shape;
  layout.numbers(1, port.facts.minorToMajor);
  shape.number(2, factsOf(port.type).xla);
  shape.numbers(3, port.shape);
  shape.message(5, layout);
  for (size_t d = 0; d < port.shape.size(); ++d)
    shape.number(6, false); // whether the dimension is dynamic
  return shape;
}

/// One result, or the tuple of them.
MessageWriter resultShape(const std::vector<Port> &outputs) {
  if (outputs.size() == 1)
    return shapeOf(outputs[0]);
  MessageWriter tuple;
  tuple.number(2, kTuple);
  for (const Port &port : outputs)
    tuple.message(4, shapeOf(port));
  return tuple;
}

std::string parameterName(size_t index) { return "p" + std::to_string(index); }

/// ProgramShapeProto.
MessageWriter programShape(const LoadedProgram &program) {
  MessageWriter shape;
  for (const Port &port : program.inputs)
    shape.message(1, shapeOf(port));
  shape.message(2, resultShape(program.outputs));
  for (size_t i = 0; i < program.inputs.size(); ++i)
    shape.text(3, parameterName(i));
  return shape;
}

/// OpSharding.
MessageWriter shardingOf(const TileAssignment &tiles) {
  enum { kReplicated = 0, kOther = 3 };
  MessageWriter sharding;
  sharding.number(1, tiles.dims.empty() ? kReplicated : kOther);
  if (tiles.dims.empty())
    return sharding;
  sharding.numbers(3, tiles.dims);
  sharding.numbers(4, tiles.devices);
  sharding.numbers(8, tiles.holders);
  return sharding;
}

MessageWriter shardingOf(const LoadedProgram &program, const Port &port) {
  return shardingOf(tilesOf(program.mesh, port.layout, port.facts.devices));
}

MessageWriter resultSharding(const LoadedProgram &program) {
  const std::vector<Port> &outputs = program.outputs;
  if (outputs.size() == 1)
    return shardingOf(program, outputs[0]);
  enum { kTupleSharding = 2 };
  MessageWriter tuple;
  tuple.number(1, kTupleSharding);
  for (const Port &port : outputs)
    tuple.message(5, shardingOf(program, port));
  if (outputs.empty()) // XLA gives an empty tuple one sharding
    tuple.message(5, shardingOf(TileAssignment()));
  return tuple;
}

constexpr int64_t kComputation = 1;
int64_t idOf(size_t instruction) {
  return kComputation << 32 | static_cast<int64_t>(instruction + 1);
}

/// HloComputationProto.
MessageWriter computationOf(const LoadedProgram &program) {
  MessageWriter computation;
  computation.text(1, "main");
  size_t count = program.inputs.size();
  for (size_t i = 0; i < count; ++i) {
    MessageWriter parameter;
    parameter.text(1, parameterName(i));
    parameter.text(2, "parameter");
    parameter.message(3, shapeOf(program.inputs[i]));
    parameter.number(9, static_cast<int64_t>(i));
    parameter.number(35, idOf(i));
    computation.message(2, parameter);
  }
  MessageWriter result;
  result.text(1, "result");
  result.text(2, "custom-call");
  result.message(3, resultShape(program.outputs));
  result.text(28, "weft");
  result.number(35, idOf(count));
  computation.message(2, result);
  computation.message(4, programShape(program));
  computation.number(5, kComputation);
  computation.number(6, idOf(count));
  return computation;
}

} // namespace

std::string weft::pjrt::hloSkeleton(const LoadedProgram &program,
                                    int64_t partitions) {
  MessageWriter module, config, both;
  module.text(1, program.name);
  module.text(2, "main");
  module.message(3, computationOf(program));
  module.message(4, programShape(program));
  module.number(5, 1);
  module.number(6, kComputation);
  if (partitions > 1) {
    module.message(12, resultSharding(program));
    for (const Port &port : program.inputs)
      module.message(14, shardingOf(program, port));
  }
  config.message(1, programShape(program));
  config.number(4, 1); // replicas
  config.number(5, partitions);
  both.message(1, module);
  both.message(2, config);
  return std::move(both.bytes);
}
