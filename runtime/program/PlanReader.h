//===- PlanReader.h - the checks of a plan, part by part --------*- C++ -*-===//

#ifndef WEFT_RUNTIME_PROGRAM_PLANREADER_H
#define WEFT_RUNTIME_PROGRAM_PLANREADER_H

#include "weft/runtime/program/Plan.h"

namespace weft::runtime {

/// The most bytes of a buffer or arena: offsets and products of sizes with the
/// number of devices then fit in 64 bits.
constexpr uint64_t largestMemory = uint64_t(1) << 46;
constexpr int64_t mostDevices = 1 << 16;

template <typename... Args> Error badPlan(const Args &...args) {
  return makeError(WEFT_INVALID_FILE, "bad plan: ", args...);
}

class PlanReader {
public:
  PlanReader(const plan::Program &in [[clang::lifetimebound]],
             Plan &out [[clang::lifetimebound]])
      : in(in), out(out) {}
  Error read();

private:
  Error readMesh();
  Error readBuffers();
  Error readBuffer(size_t index, const plan::Buffer &buffer);
  Error readPorts();
  Error readPort(const std::string &what, const plan::Port &port,
                 PortInfo &info);
  Error joinDonations();
  Error readModules();
  Error readKernels();
  Error readKernel(const std::string &what, const plan::Kernel &kernel,
                   Kernel &info);
  Error readKernel(const std::string &what, const plan::DeviceKernel &in,
                   DeviceKernel &its) const;
  Error readKernel(const std::string &what, const plan::LibraryContraction &in,
                   LibraryContraction &its) const;
  Error checkFallbacks() const;
  Error readInstructions();
  Error readLaunch(size_t at, const plan::Launch &launch, Instruction &i);
  Error readScratch(const std::string &what, const plan::Launch &launch,
                    const Instruction &i);
  Error checkContraction(const std::string &what, const LibraryContraction &its,
                         const Instruction &i) const;
  Error readCopy(size_t at, const plan::Copy &copy, Instruction &i);
  Error readJumpUnless(size_t at, const plan::JumpUnless &jump, Instruction &i);
  Error readCollective(size_t at, const plan::Collective &collective,
                       Instruction &i);
  Error readArrays(const std::string &what,
                   const flatbuffers::Vector<uint32_t> *buffers,
                   std::vector<Collective::Array> &out) const;
  Error checkDisjoint(const std::string &what, const Collective &info) const;
  Error checkMoved(const std::string &what, const Collective &info,
                   size_t sources) const;
  /// Checks the rules of one kind of collective, in addition to those above.
  Error check(const std::string &what, const Collective &info,
              const AllReduce &its) const;
  Error check(const std::string &what, const Collective &info,
              const AllGather &its) const;
  Error check(const std::string &what, const Collective &info,
              const ReduceScatter &its) const;
  Error check(const std::string &what, const Collective &info,
              const AllToAll &its) const;
  Error check(const std::string &what, const Collective &info,
              const Resharding &its) const;
  Error check(const std::string &what, const Collective &info,
              const Fetch &its) const;
  Error check(const std::string &what, const Collective &info,
              const Pick &its) const;
  Error check(const std::string &what, const Collective &info,
              const CollectivePermute &its) const;
  Error check(const std::string &what, const Collective &info,
              const HostCall &its) const;
  Error checkWritable(const std::string &what, uint32_t buffer) const;
  bool overlap(uint32_t a, uint32_t b) const;

  const plan::Program &in;
  Plan &out;
};

/// "[2, 3]".
std::string shapeText(std::span<const int64_t> shape);
/// The product of a shape and the element size, or an error if the dtype is
/// unknown, a dimension is negative or the product exceeds largestMemory.
Error countBytes(const std::string &what, std::span<const int64_t> shape,
                 DType dtype, uint64_t &bytes);
SubAxes readAxes(const flatbuffers::Vector<const plan::SubAxis *> *axes);
/// Reads a layout; null stands for a replicated one.
Layout readLayout(const plan::Layout *layout, size_t rank);
std::vector<int64_t> readShape(const flatbuffers::Vector<int64_t> *shape);
std::string readText(const flatbuffers::String *text);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_PLANREADER_H
