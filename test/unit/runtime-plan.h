//===- runtime-plan.h - programs written by hand ----------------*- C++ -*-===//
//
//   PlanBuilder p({{"x", 2}});
//   uint32_t in = p.input("in", DType::f32, {8}, {{fullAxis(0, 2)}});
//   uint32_t out = p.output("out", DType::f32, {8}, {{fullAxis(0, 2)}});
//   p.copy(in, out);
//   Loaded program(p.image());
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_RUNTIME_PLAN_H
#define WEFT_TEST_UNIT_RUNTIME_PLAN_H

#include "weft/runtime/abi/ProgramImage.h"
#include "weft/runtime/abi/plan_generated.h"
#include "weft/test/unit/runtime-loaded.h"

#include "catch2/catch.hpp"

#include <array>
#include <fstream>
#include <iterator>
#include <string>

namespace weft::test {

using namespace weft::plan;
using Axes = std::vector<SubAxis>;
using Shape = std::vector<int64_t>;

inline SubAxis fullAxis(uint32_t axis, int64_t size) { return {axis, 1, size}; }

inline std::vector<uint8_t> kernelLibrary() {
  std::ifstream file(WEFT_TEST_KERNELS, std::ios::binary);
  // The library is in the working directory if there is no build folder.
  if (!file)
    file.open("libweft_test_kernels.so", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline int64_t bytesOf(DType dtype) {
  switch (dtype) {
  case DType::c128:
    return 16;
  case DType::f64:
  case DType::i64:
  case DType::ui64:
  case DType::c64:
    return 8;
  case DType::f32:
  case DType::i32:
  case DType::ui32:
    return 4;
  case DType::f16:
  case DType::bf16:
  case DType::i16:
  case DType::ui16:
    return 2;
  default:
    return 1;
  }
}

class PlanBuilder {
public:
  explicit PlanBuilder(std::vector<std::pair<std::string, int64_t>> axes) {
    program.abi_version = WEFT_ABI_VERSION;
    program.name = "test";
    program.mesh = std::make_unique<MeshT>();
    for (auto &[name, size] : axes) {
      program.mesh->axis_names.push_back(name);
      program.mesh->axis_sizes.push_back(size);
    }
  }

  uint32_t buffer(BufferKind kind, DType dtype, const Shape &shape,
                  uint64_t offset = 0) {
    auto b = std::make_unique<BufferT>();
    b->kind = kind;
    b->offset = offset;
    b->dtype = dtype;
    b->shape = shape;
    b->bytes = uint64_t(bytesOf(dtype));
    for (int64_t n : shape)
      b->bytes *= uint64_t(n);
    program.buffers.push_back(std::move(b));
    return uint32_t(program.buffers.size() - 1);
  }
  uint32_t arena(DType dtype, const Shape &shape) {
    uint64_t offset = (program.arena_bytes + 63) / 64 * 64;
    uint32_t b = buffer(BufferKind::arena, dtype, shape, offset);
    program.arena_bytes = offset + program.buffers[b]->bytes;
    return b;
  }
  static std::unique_ptr<LayoutT> layout(const std::vector<Axes> &dims) {
    auto l = std::make_unique<LayoutT>();
    for (const Axes &axes : dims) {
      auto d = std::make_unique<DimLayoutT>();
      d->axes = axes;
      l->dims.push_back(std::move(d));
    }
    return l;
  }
  static Shape local(const Shape &shape, const std::vector<Axes> &dims) {
    Shape out = shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      int64_t p = 1;
      for (const SubAxis &a : dims[d])
        p *= a.size();
      out[d] = (shape[d] + p - 1) / p;
    }
    return out;
  }
  std::unique_ptr<PortT> port(const std::string &name, uint32_t buffer,
                              DType dtype, const Shape &shape,
                              const std::vector<Axes> &dims) {
    auto p = std::make_unique<PortT>();
    p->name = name;
    p->buffer = buffer;
    p->dtype = dtype;
    p->shape = shape;
    p->layout = layout(dims);
    return p;
  }
  uint32_t input(const std::string &name, DType dtype, const Shape &shape,
                 const std::vector<Axes> &dims) {
    uint32_t b = buffer(BufferKind::input, dtype, local(shape, dims));
    program.inputs.push_back(port(name, b, dtype, shape, dims));
    return b;
  }
  uint32_t output(const std::string &name, DType dtype, const Shape &shape,
                  const std::vector<Axes> &dims) {
    uint32_t b = buffer(BufferKind::output, dtype, local(shape, dims));
    program.outputs.push_back(port(name, b, dtype, shape, dims));
    return b;
  }
  /// Adds an input that is updated in place: one buffer, two ports.
  uint32_t state(const std::string &name, DType dtype, const Shape &shape,
                 const std::vector<Axes> &dims) {
    uint32_t b = input(name, dtype, shape, dims);
    program.inputs.back()->donated_to = int32_t(program.outputs.size());
    program.outputs.push_back(port(name, b, dtype, shape, dims));
    return b;
  }

  template <typename Op> Op &add(Op op) {
    auto i = std::make_unique<InstructionT>();
    i->operation.Set(std::move(op));
    program.instructions.push_back(std::move(i));
    return *static_cast<Op *>(program.instructions.back()->operation.value);
  }
  uint32_t next() const { return uint32_t(program.instructions.size()); }
  template <typename Code> KernelT &kernel(Code code, uint64_t scratch = 0) {
    auto k = std::make_unique<KernelT>();
    k->code.Set(std::move(code));
    k->scratch = scratch;
    program.kernels.push_back(std::move(k));
    return *program.kernels.back();
  }
  /// Adds a launch of the kernel made last.
  LaunchT &launchLast(std::vector<uint32_t> buffers, int32_t scratch = -1) {
    LaunchT op;
    op.kernel = uint32_t(program.kernels.size() - 1);
    op.buffers = std::move(buffers);
    op.scratch = scratch;
    return add(std::move(op));
  }
  /// Adds a launch of a function of the test's library.
  void launch(const std::string &symbol, std::vector<uint32_t> buffers) {
    HostKernelT code;
    code.symbol = symbol;
    kernel(std::move(code));
    launchLast(std::move(buffers));
  }
  void copy(uint32_t source, uint32_t target) {
    CopyT op;
    op.source = source;
    op.target = target;
    add(op);
  }
  JumpT &jump(uint32_t target) {
    JumpT op;
    op.target = target;
    return add(op);
  }
  JumpUnlessT &jumpUnless(uint32_t condition, uint32_t target) {
    JumpUnlessT op;
    op.condition = condition;
    op.target = target;
    return add(op);
  }
  /// Adds the start of a collective; `own` is the table of its kind.
  template <typename Own>
  StartT &start(const std::string &name, Own own, std::vector<uint32_t> sources,
                std::vector<uint32_t> targets, Axes group) {
    StartT op;
    op.kind.Set(std::move(own));
    op.sources = std::move(sources);
    op.targets = std::move(targets);
    op.group = std::move(group);
    op.name = name;
    op.label = "the test";
    return add(std::move(op));
  }
  /// Adds the wait for an instruction.
  WaitT &wait(uint32_t start) {
    WaitT op;
    op.start = start;
    return add(op);
  }
  /// Adds a collective, which is a start and a wait.
  template <typename Own>
  StartT &collective(const std::string &name, Own own,
                     std::vector<uint32_t> sources,
                     std::vector<uint32_t> targets, Axes group) {
    StartT &made = start(name, std::move(own), std::move(sources),
                         std::move(targets), std::move(group));
    wait(next() - 1);
    return made;
  }
  StartT &allReduce(std::vector<uint32_t> sources,
                    std::vector<uint32_t> targets, Axes group,
                    ReduceKind reduce = ReduceKind::sum) {
    CombinationT own;
    own.reduce = reduce;
    return collective("all_reduce", own, std::move(sources), std::move(targets),
                      std::move(group));
  }
  StartT &reduceScatter(uint32_t source, uint32_t target, Axes group,
                        uint32_t dim) {
    CombinationT own;
    own.dim = int32_t(dim);
    return collective("reduce_scatter", own, {source}, {target},
                      std::move(group));
  }
  static MovementT movement(const Shape &shape, const std::vector<Axes> &from,
                            const std::vector<Axes> &to) {
    MovementT own;
    own.shape = shape;
    own.from = layout(from);
    own.to = layout(to);
    return own;
  }
  StartT &allGather(uint32_t source, uint32_t target, Axes group,
                    uint32_t dim) {
    const Shape &shape = program.buffers[target]->shape;
    std::vector<Axes> from(shape.size()), to(shape.size());
    if (dim < shape.size())
      from[dim] = group;
    MovementT own = movement(shape, from, to);
    own.is_ring = true;
    return collective("all_gather", std::move(own), {source}, {target},
                      std::move(group));
  }
  StartT &allToAll(uint32_t source, uint32_t target, Axes group, uint32_t split,
                   uint32_t concat) {
    Shape shape = program.buffers[source]->shape;
    shape[concat] = program.buffers[target]->shape[concat];
    std::vector<Axes> from(shape.size()), to(shape.size());
    from[concat] = to[split] = group;
    MovementT own = movement(shape, from, to);
    own.is_ring = true;
    return collective("all_to_all", std::move(own), {source}, {target},
                      std::move(group));
  }
  StartT &exchange(uint32_t source, uint32_t target, const Shape &shape,
                   const std::vector<Axes> &from, const std::vector<Axes> &to) {
    Axes all;
    for (int64_t size : program.mesh->axis_sizes)
      all.push_back(fullAxis(uint32_t(all.size()), size));
    return collective("exchange", movement(shape, from, to), {source}, {target},
                      std::move(all));
  }
  /// Adds a movement of boxes, given as asNumbers() gives them.
  StartT &move(uint32_t source, uint32_t target, Axes group, const Shape &shape,
               const std::vector<Axes> &from, const Shape &toShape,
               const std::vector<Axes> &to, std::vector<int64_t> boxes) {
    MovementT own = movement(shape, from, to);
    own.boxes = std::move(boxes);
    own.to_shape = toShape;
    return collective("move", std::move(own), {source}, {target},
                      std::move(group));
  }
  /// Adds a further source to a movement of boxes.
  static void addSource(StartT &start, uint32_t source, const Shape &shape,
                        const std::vector<Axes> &from) {
    auto its = std::make_unique<MovedSourceT>();
    its->shape = shape;
    its->layout = layout(from);
    start.kind.Asmovement()->others.push_back(std::move(its));
    start.sources.push_back(source);
  }
  /// Adds a fetch; `at` is its size, block, step, offset, divisor and modulus.
  StartT &fetch(uint32_t source, uint32_t target, Axes group, uint32_t dim,
                const std::array<int64_t, 6> &at) {
    FetchingT own;
    own.dim = dim;
    own.positions = std::make_unique<plan::FetchedPositions>(
        at[0], at[1], at[2], at[3], at[4], at[5]);
    return collective("fetch", std::move(own), {source}, {target},
                      std::move(group));
  }
  StartT &pick(uint32_t source, uint32_t positions, uint32_t target, Axes group,
               uint32_t dim) {
    FetchingT own;
    own.dim = dim;
    return collective("pick", std::move(own), {source, positions}, {target},
                      std::move(group));
  }
  StartT &collectivePermute(uint32_t source, uint32_t target, Axes group,
                            const Shape &senders) {
    SendingT own;
    own.senders = senders;
    return collective("collective_permute", std::move(own), {source}, {target},
                      std::move(group));
  }
  StartT &hostCall(int64_t function, std::vector<uint32_t> sources,
                   std::vector<uint32_t> targets, Axes group) {
    HostCallT own;
    own.function = function;
    return collective("host_call", own, std::move(sources), std::move(targets),
                      std::move(group));
  }

  std::vector<uint8_t> planBytes() {
    flatbuffers::FlatBufferBuilder builder;
    FinishProgramBuffer(builder, Program::Pack(builder, &program));
    return {builder.GetBufferPointer(),
            builder.GetBufferPointer() + builder.GetSize()};
  }
  /// Ends the program with a Return, and returns its image.
  std::vector<uint8_t> image() {
    add(ReturnT());
    return assembleProgramFile(kernelLibrary(), planBytes(), 0);
  }

  ProgramT program;
};

/// Returns a plan for two devices that never ends: only the first device joins
/// the all-reduce of "v", buffer 0.
inline PlanBuilder deadlock() {
  PlanBuilder p({{"x", 2}});
  uint32_t v = p.state("v", DType::f32, {2}, {{fullAxis(0, 2)}});
  uint32_t first = p.arena(DType::i1, {});
  p.launch("is_first", {first});
  JumpUnlessT &skip = p.jumpUnless(first, 0);
  p.allReduce({v}, {v}, {fullAxis(0, 2)});
  skip.target = p.next();
  return p;
}

} // namespace weft::test

#endif // WEFT_TEST_UNIT_RUNTIME_PLAN_H
