#include "weft/runtime/devices/cpu/LapackKernels.h"

namespace weft::runtime {

static constexpr std::string_view kPrefix = "lapack.";

/// Checks the number, sizes and memory of a launch's buffers.
static Status checkLaunch(const Plan &plan, const Instruction &launch,
                          const lapack::Call &call) {
  std::vector<lapack::ArrayForm> arrays = call.routine().operands;
  size_t operands = arrays.size();
  arrays.insert(arrays.end(), call.results().begin(), call.results().end());
  std::string what = "bad plan: a launch of " + plan.kernelName(launch.index);
  if (launch.argumentCount != arrays.size())
    return makeError(StatusCode::InvalidFile, what, " has ",
                     launch.argumentCount, " buffers, expected ",
                     arrays.size());
  for (size_t n = 0; n < arrays.size(); ++n) {
    const BufferInfo &buffer =
        plan.buffers[plan.arguments[launch.firstArgument + n]];
    auto wanted = uint64_t(call.batch() * call.bytes(arrays[n]));
    if (buffer.bytes != wanted)
      return makeError(StatusCode::InvalidFile, what, " has ", buffer.bytes,
                       " bytes as buffer ", n, ", expected ", wanted);
    if (n >= operands && !buffer.writable)
      return makeError(StatusCode::InvalidFile, what, " writes its buffer ", n,
                       ", which is not writable");
  }
  return {};
}

/// The call of a builtin; the error has the kernel's name.
static Result<lapack::Call> callOf(const Plan &plan, uint32_t kernel,
                                   const Builtin &builtin) {
  std::string_view name = builtin.name;
  if (!name.starts_with(kPrefix))
    return Error{"kernel " + plan.kernelName(kernel) +
                     " is none of these devices' runtime, which has lapack.*; "
                     "compile it again",
                 StatusCode::Incompatible};
  name.remove_prefix(kPrefix.size());
  Result<lapack::Call> call = lapack::Call::read(name, builtin.parameters);
  if (call)
    return call;
  return call.error().in("kernel " + plan.kernelName(kernel));
}

/// The library for a program that wants a routine.
static Status findLibrary(const Plan &plan, uint32_t kernel,
                          std::shared_ptr<const lapack::Library> &library) {
  if (library)
    return {};
  auto found = lapack::Library::open();
  if (!found)
    return makeError(StatusCode::Incompatible, "program \"", plan.name,
                     "\" needs LAPACK for its kernel ", plan.kernelName(kernel),
                     ", and no library was found (", found.error().message,
                     "); ", lapack::wayToLibrary());
  library = *found;
  return {};
}

Status makeLapackKernels(const Plan &plan,
                         std::shared_ptr<const lapack::Library> library,
                         LapackKernels &out) {
  for (uint32_t n = 0; n < plan.kernels.size(); ++n) {
    const auto *builtin = std::get_if<Builtin>(&plan.kernels[n].code);
    if (!builtin)
      continue;
    out.resize(plan.kernels.size());
    Result<lapack::Call> call = callOf(plan, n, *builtin);
    if (!call)
      return call.error();
    for (const Instruction &i : plan.instructions)
      if (i.kind == plan::Operation::Launch && i.index == n)
        if (Status ok = checkLaunch(plan, i, *call); !ok)
          return ok;
    if (Status ok = findLibrary(plan, n, library); !ok)
      return ok;
    Result<lapack::Kernel> kernel = lapack::Kernel::make(*call, *library);
    if (!kernel)
      return kernel.error().in("kernel " + plan.kernelName(n));
    out[n] = std::make_unique<const lapack::Kernel>(std::move(*kernel));
  }
  return {};
}

} // namespace weft::runtime
