// Kernels of a plan, and the modules with those of devices.

#include "weft/runtime/program/PlanReader.h"

#include <elf.h>

#include <cstring>

namespace weft::runtime {

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Whether the bytes are an ELF image for 64-bit NVIDIA GPUs.
static bool isCubin(std::span<const uint8_t> data) {
  Elf64_Ehdr header;
  if (data.size() < sizeof header)
    return false;
  std::memcpy(&header, data.data(), sizeof header);
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_CUDA;
}

Status PlanReader::readModules() {
  for (size_t n = 0; in.modules() && n < in.modules()->size(); ++n) {
    const plan::DeviceModule &module = *in.modules()->Get(unsigned(n));
    std::string what = "module " + std::to_string(n);
    DeviceModule info{readText(module.chip()), module.format(), {}};
    if (module.data())
      info.data = {module.data()->data(), module.data()->size()};
    if (info.chip.empty() || info.data.empty())
      return badPlan(what, " for the chip \"", info.chip, "\" has ",
                     info.data.size(), " bytes of code");
    if (info.format > plan::CodeFormat::MAX)
      return badPlan(what, " has the unknown format ", int(info.format));
    if (info.format == plan::CodeFormat::cubin && !isCubin(info.data))
      return badPlan(what, " is no cubin: ", info.data.size(),
                     " bytes without an ELF header of a GPU");
    if (info.format == plan::CodeFormat::ptx &&
        std::memchr(info.data.data(), 0, info.data.size()))
      return badPlan(what, " is no PTX: its text has a NUL");
    out.modules.push_back(std::move(info));
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Checks that a loader can look up the name.
static Status checkName(const std::string &what, const std::string &name) {
  if (name.empty() || name.find('\0') != std::string::npos)
    return badPlan(what, " has ",
                   name.empty() ? "no name" : "a NUL in its name");
  return {};
}

Status PlanReader::readKernel(const std::string &what,
                              const plan::DeviceKernel &in,
                              DeviceKernel &its) const {
  // Limits of all CUDA devices: threads of a block, blocks of a grid; and more
  // shared memory than any of them has.
  constexpr uint64_t mostThreads = 1024, mostBlocks = (1ull << 31) - 1,
                     mostShared = 1 << 20;
  its = {in.module_(), readText(in.symbol()), {}, in.blocks(), in.shared()};
  if (its.module >= out.modules.size())
    return badPlan(what, " is in module ", its.module, " of ",
                   out.modules.size());
  if (Status ok = checkName(what, its.symbol); !ok)
    return ok;
  uint64_t threads = in.block() && in.block()->size() == 3 ? 1 : 0;
  for (unsigned d = 0; threads && d < 3; ++d) {
    its.block[d] = in.block()->Get(d);
    threads = its.block[d] > mostThreads ? 0 : threads * its.block[d];
  }
  if (threads == 0 || threads > mostThreads)
    return badPlan(what, " has no block of three sizes and 1 to ", mostThreads,
                   " threads");
  if (its.blocks == 0 || its.blocks > mostBlocks || its.shared > mostShared)
    return badPlan(what, " has ", its.blocks, " blocks with ", its.shared,
                   " bytes each; the most are ", mostBlocks, " and ",
                   mostShared);
  return {};
}

/// The number of elements up to the last that the dimensions reach from element
/// `first` on, or more than any memory has.
static uint64_t extent(const LibraryContraction &its, int64_t first,
                       int64_t (plan::ContractionDim::*stride)() const) {
  auto last = static_cast<unsigned __int128>(first);
  std::vector<plan::ContractionDim> all = its.batch;
  all.insert(all.end(), {its.rows, its.columns, its.contract});
  for (const plan::ContractionDim &dim : all) {
    int64_t step = (dim.*stride)();
    if (dim.size() == 0 && step != 0)
      return 0;
    if (step != 0)
      last += static_cast<unsigned __int128>(dim.size() - 1) * uint64_t(step);
    if (last >= largestMemory)
      return largestMemory;
  }
  return uint64_t(last) + 1;
}

Status PlanReader::readKernel(const std::string &what,
                              const plan::LibraryContraction &in,
                              LibraryContraction &its) const {
  if (!in.rows() || !in.columns() || !in.contract())
    return badPlan(what, " lacks rows, columns or contracted dimensions");
  its = {{},
         *in.rows(),
         *in.columns(),
         *in.contract(),
         in.sums(),
         in.epilogue(),
         in.fallback(),
         in.compute(),
         in.lhs_first(),
         in.rhs_first()};
  if (in.batch())
    for (const plan::ContractionDim *dim : *in.batch())
      its.batch.push_back(*dim);
  bool fits = its.rows.rhs() == 0 && its.columns.lhs() == 0 &&
              its.contract.result() == 0 && its.batch.size() <= 8;
  std::vector<plan::ContractionDim> all = its.batch;
  all.insert(all.end(), {its.rows, its.columns, its.contract});
  for (const plan::ContractionDim &dim : all)
    for (int64_t number : {dim.size(), dim.lhs(), dim.rhs(), dim.result()})
      fits &= number >= 0 && uint64_t(number) <= largestMemory;
  for (int64_t first : {its.lhsFirst, its.rhsFirst})
    fits &= first >= 0 && uint64_t(first) <= largestMemory;
  if (!fits)
    return badPlan(what, " has dimensions whose sizes and strides are no "
                         "contraction's");
  if (!isValid(its.sums) || its.epilogue > plan::ContractionEpilogue::MAX ||
      its.compute > plan::ContractionCompute::MAX)
    return badPlan(what, " has sums of the unknown dtype ", int(its.sums),
                   ", the unknown epilogue ", int(its.epilogue),
                   " or the unknown compute type ", int(its.compute));
  return {};
}

Status PlanReader::readKernel(const std::string &what,
                              const plan::Kernel &kernel, Kernel &info) {
  info.scratch = kernel.scratch();
  info.operations = kernel.operations();
  info.results = kernel.results();
  if (info.scratch > largestMemory)
    return badPlan(what, " wants ", info.scratch, " bytes of scratch memory");
  if (const auto *host = kernel.code_as_host()) {
    info.code = HostKernel{readText(host->symbol())};
    return checkName(what, std::get<HostKernel>(info.code).symbol);
  }
  if (const auto *device = kernel.code_as_device())
    return readKernel(what, *device, info.code.emplace<DeviceKernel>());
  if (const auto *contraction = kernel.code_as_contraction())
    return readKernel(what, *contraction,
                      info.code.emplace<LibraryContraction>());
  if (const auto *builtin = kernel.code_as_builtin()) {
    info.code =
        Builtin{readText(builtin->name()), readShape(builtin->parameters())};
    return checkName(what, std::get<Builtin>(info.code).name);
  }
  if (const auto *sequence = kernel.code_as_sequence()) {
    auto &its = info.code.emplace<KernelSequence>();
    if (sequence->kernels())
      its.kernels.assign(sequence->kernels()->begin(),
                         sequence->kernels()->end());
    return {};
  }
  return badPlan(what, " is of the unknown kind ", int(kernel.code_type()));
}

Status PlanReader::checkSequences() const {
  for (size_t n = 0; n < out.kernels.size(); ++n) {
    const auto *its = std::get_if<KernelSequence>(&out.kernels[n].code);
    if (!its)
      continue;
    if (its->kernels.empty())
      return badPlan("kernel ", n, " is a sequence of no kernels");
    for (uint32_t each : its->kernels)
      if (each >= out.kernels.size() ||
          !std::holds_alternative<DeviceKernel>(out.kernels[each].code) ||
          out.kernels[each].scratch != out.kernels[n].scratch)
        return badPlan("kernel ", n, " runs kernel ", each, " of ",
                       out.kernels.size(), ", which is no kernel of a device ",
                       "with ", out.kernels[n].scratch,
                       " bytes of scratch memory");
  }
  return {};
}

/// Whether the kernel is code of a device.
static bool isOfDevice(const Kernel &kernel) {
  return std::holds_alternative<DeviceKernel>(kernel.code) ||
         std::holds_alternative<KernelSequence>(kernel.code);
}

Status PlanReader::checkFallbacks() const {
  for (size_t n = 0; n < out.kernels.size(); ++n) {
    const Kernel &kernel = out.kernels[n];
    const auto *its = std::get_if<LibraryContraction>(&kernel.code);
    if (!its)
      continue;
    if (its->fallback >= out.kernels.size() ||
        !isOfDevice(out.kernels[its->fallback]))
      return badPlan("kernel ", n, " has the fallback ", its->fallback, " of ",
                     out.kernels.size(), ", which is no kernel of a device");
    if (out.kernels[its->fallback].scratch > kernel.scratch)
      return badPlan("kernel ", n, " gives its fallback ", kernel.scratch,
                     " bytes of scratch memory, which wants ",
                     out.kernels[its->fallback].scratch);
  }
  return {};
}

Status PlanReader::readKernels() {
  out.kernels.resize(in.kernels() ? in.kernels()->size() : 0);
  for (size_t n = 0; n < out.kernels.size(); ++n)
    if (Status ok = readKernel("kernel " + std::to_string(n),
                               *in.kernels()->Get(unsigned(n)), out.kernels[n]);
        !ok)
      return ok;
  if (Status ok = checkSequences(); !ok)
    return ok;
  return checkFallbacks();
}

/// Checks the number of buffers of a contraction, that they have all elements
/// that its dimensions reach, and that the result is writable.
Status PlanReader::checkContraction(const std::string &what,
                                    const LibraryContraction &its,
                                    const Instruction &i) const {
  uint32_t result = its.resultArgument(), wanted = result + 1;
  if (i.argumentCount != wanted)
    return badPlan(what, " on ", i.argumentCount, " buffers, not ", wanted);
  auto argument = [&](uint32_t n) {
    return out.arguments[i.firstArgument + n];
  };
  auto holds = [&](uint32_t n, uint64_t elements) -> Status {
    const BufferInfo &buffer = out.buffers[argument(n)];
    uint64_t held = buffer.bytes / uint64_t(elementBytes(buffer.dtype));
    if (held >= elements)
      return {};
    return badPlan(what, " on buffer ", argument(n), " of ", held,
                   " elements, it reaches ", elements);
  };
  if (Status ok =
          holds(0, extent(its, its.lhsFirst, &plan::ContractionDim::lhs));
      !ok)
    return ok;
  if (Status ok =
          holds(1, extent(its, its.rhsFirst, &plan::ContractionDim::rhs));
      !ok)
    return ok;
  if (its.hasBias())
    if (Status ok = holds(2, uint64_t(its.columns.size())); !ok)
      return ok;
  if (Status ok = holds(result, extent(its, 0, &plan::ContractionDim::result));
      !ok)
    return ok;
  return checkWritable(what, argument(result));
}

bool Plan::isOfHost() const {
  return std::ranges::all_of(kernels, [](const Kernel &kernel) {
    return std::holds_alternative<HostKernel>(kernel.code) ||
           std::holds_alternative<Builtin>(kernel.code);
  });
}

std::string Plan::kernelName(uint32_t kernel) const {
  const auto &code = kernels[kernel].code;
  if (const auto *host = std::get_if<HostKernel>(&code))
    return "\"" + host->symbol + "\"";
  if (const auto *device = std::get_if<DeviceKernel>(&code))
    return "\"" + device->symbol + "\"";
  if (const auto *builtin = std::get_if<Builtin>(&code))
    return "\"" + builtin->name + "\"";
  if (const auto *sequence = std::get_if<KernelSequence>(&code))
    return kernelName(sequence->kernels.front());
  return "contraction " + std::to_string(kernel);
}

} // namespace weft::runtime
