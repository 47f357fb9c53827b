//===- PlanReader.h - the checks of a plan, part by part --------*- C++ -*-===//

#ifndef WEFT_RUNTIME_PROGRAM_PLANREADER_H
#define WEFT_RUNTIME_PROGRAM_PLANREADER_H

#include "weft/runtime/abi/PlanPorts.h"
#include "weft/runtime/program/Plan.h"

namespace weft::runtime {

/// The most bytes of a buffer or arena: offsets and products of sizes with the
/// number of devices then fit in 64 bits.
constexpr uint64_t largestMemory = uint64_t(1) << 46;
constexpr int64_t mostDevices = 1 << 16;

template <typename... Args> Status badPlan(const Args &...args) {
  return makeError(StatusCode::InvalidFile, "bad plan: ", args...);
}

class PlanReader {
public:
  PlanReader(const plan::Program &in [[clang::lifetimebound]],
             Plan &out [[clang::lifetimebound]])
      : in(in), out(out) {}
  Status read();

private:
  Status readMesh();
  Status readSharings();
  Status readShared(const std::string &what, int32_t shared,
                    int32_t &number) const;
  /// Checks what writes shared buffers, and finds the bytes of shared memory.
  Status checkSharings();
  Status checkShared(const std::string &what, int32_t its,
                     uint32_t written) const;
  Status checkSharedPorts(const std::vector<Port> &ports) const;
  Status checkSharedTargets(const std::string &what,
                            const Collective &its) const;
  Status readBuffers();
  Status readBuffer(size_t index, const plan::Buffer &buffer);
  Status readPorts();
  Status readPort(const std::string &what, const plan::Port &port, Port &info);
  Status joinDonations();
  Status readModules();
  Status readKernels();
  Status readKernel(const std::string &what, const plan::Kernel &kernel,
                    Kernel &info);
  Status readKernel(const std::string &what, const plan::DeviceKernel &in,
                    DeviceKernel &its) const;
  Status readKernel(const std::string &what, const plan::LibraryContraction &in,
                    LibraryContraction &its) const;
  Status checkSequences() const;
  Status checkFallbacks() const;
  Status readInstructions();
  Status readLaunch(size_t at, const plan::Launch &launch, Instruction &i);
  Status readScratch(const std::string &what, const plan::Launch &launch,
                     const Instruction &i);
  Status checkContraction(const std::string &what,
                          const LibraryContraction &its,
                          const Instruction &i) const;
  Status readCopy(size_t at, const plan::Copy &copy, Instruction &i);
  Status readJumpOutside(size_t at, const plan::JumpOutside &jump,
                         Instruction &i);
  Status readJumpUnless(size_t at, const plan::JumpUnless &jump,
                        Instruction &i);
  Status readStart(size_t at, const plan::Start &start, Instruction &i);
  Status readWait(size_t at, const plan::Wait &wait, Instruction &i) const;
  Status readArrays(const std::string &what,
                    const flatbuffers::Vector<uint32_t> *buffers,
                    std::vector<Collective::Array> &out) const;
  Status checkDisjoint(const std::string &what, const Collective &info) const;
  /// Checks that each start has one wait, in the same straight line.
  Status checkWaits() const;
  Status checkUntouched(size_t index, const Instruction &i,
                        const MeshPart &part, uint32_t start) const;
  Status checkWritable(const std::string &what, uint32_t buffer) const;
  Status checkResults(const std::string &what, const Instruction &i) const;
  bool overlap(uint32_t a, uint32_t b) const;

  const plan::Program &in;
  Plan &out;
};

/// "[2, 3]".
std::string shapeText(std::span<const int64_t> shape);
/// The product of a shape and the element size, or an error if the dtype is
/// unknown, a dimension is negative or the product exceeds largestMemory.
Status countBytes(const std::string &what, std::span<const int64_t> shape,
                  DType dtype, uint64_t &bytes);
std::vector<int64_t> readShape(const flatbuffers::Vector<int64_t> *shape);
std::string readText(const flatbuffers::String *text);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_PLANREADER_H
