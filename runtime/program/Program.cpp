#include "weft/runtime/program/Program.h"

#include "weft/base/WriteAll.h"
#include "weft/runtime/program/PlanAlignment.h"
#include "weft/runtime/program/ProgramFile.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace weft::runtime {

Program::~Program() {
  if (library)
    dlclose(library);
}

Status Program::readPlanBytes(std::span<const uint8_t> plan) {
  // The size of an aligned copy, in multiples of 64 bytes, as aligned_alloc
  // requires.
  size_t room = (plan.size() + 63) / 64 * 64;
  bytes.reset(static_cast<uint8_t *>(std::aligned_alloc(64, room ? room : 64)));
  if (!bytes)
    return makeError(StatusCode::OutOfMemory, "no memory for a plan of ",
                     plan.size(), " bytes");
  if (!plan.empty())
    std::memcpy(bytes.get(), plan.data(), plan.size());
  // The depth limit: program > instruction > collective > exchange > layout >
  // dimension are 6 levels.
  flatbuffers::Verifier verifier(bytes.get(), plan.size(), /*max_depth=*/8,
                                 /*max_tables=*/1u << 24);
  if (plan.size() < 8 || !plan::VerifyProgramBuffer(verifier))
    return makeError(StatusCode::InvalidFile, "bad plan: ", plan.size(),
                     " bytes are no valid FlatBuffer of a program");
  const plan::Program &program = *plan::GetProgram(bytes.get());
  if (!isAligned(program))
    return makeError(StatusCode::InvalidFile,
                     "bad plan: numbers of 8 bytes lie at odd places");
  return readPlan(program, contents);
}

static Status systemError(const char *what) {
  return makeError(StatusCode::Io, what, ": ", std::strerror(errno));
}

/// The path of an open file for dlopen, which takes equal paths for the same
/// library. Each path is another spelling of the folder (/./ is 1, / is 0), so
/// that the file need not stay open: a process may load more programs than open
/// files.
static std::string pathOf(int file) {
  static std::atomic<uint32_t> count = 0;
  std::string path = "/proc/self/fd";
  for (uint32_t n = ++count; n; n >>= 1)
    path += n & 1 ? "/." : "/";
  return path + "/" + std::to_string(file);
}

static Status loadLibrary(std::span<const uint8_t> elf, int file,
                          void *&library) {
  if (!writeAll(file, elf.data(), elf.size()))
    return systemError("cannot write the kernels to a memory file");
  library = dlopen(pathOf(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return makeError(StatusCode::InvalidFile,
                     "kernels of the program cannot be loaded: ", dlerror());
  return {};
}

Status Program::loadKernels() const {
  if (Status ok = checkCode(code, features); !ok)
    return ok;
  int file = memfd_create("weft-kernels", MFD_CLOEXEC);
  if (file < 0)
    return systemError("cannot create a memory file for the kernels");
  Status loaded = loadLibrary(code, file, library);
  close(file);
  if (!loaded)
    return loaded;
  std::vector<weft_kernel_fn> found;
  std::vector<SharedKernel> foundShared;
  for (const Kernel &each : contents.kernels) {
    const auto *host = std::get_if<HostKernel>(&each.code);
    if (!host) { // A set of devices has the builtins.
      found.push_back(nullptr);
      foundShared.emplace_back();
      continue;
    }
    const std::string &kernel = host->symbol;
    void *symbol = dlsym(library, kernel.c_str());
    if (!symbol)
      return makeError(StatusCode::InvalidFile, "program has no kernel \"",
                       kernel, "\", which its plan names");
    found.push_back(reinterpret_cast<weft_kernel_fn>(symbol));
    SharedKernel shared;
    auto *most = static_cast<const uint32_t *>(
        dlsym(library, (kernel + ".shares").c_str()));
    if (void *share = dlsym(library, (kernel + ".share").c_str());
        share && most)
      shared = {reinterpret_cast<weft_kernel_share_fn>(share), int64_t(*most)};
    foundShared.push_back(shared);
  }
  kernels = std::move(found);
  sharedKernels = std::move(foundShared);
  code = {};
  return {};
}

/// Adds advice for a person with a bad file, if the message has none.
static Status withAdvice(Status result) {
  if (result || result.message().find("; ") != std::string::npos)
    return result;
  StatusCode code = result.code();
  if (code == StatusCode::Io)
    result.error().message += "; check the path and its permissions";
  else if (code == StatusCode::InvalidFile || code == StatusCode::Incompatible)
    result.error().message += "; compile it again";
  return result;
}

Status Program::prepare() const {
  std::lock_guard<std::mutex> guard(preparing);
  // A program may have no kernels, or only those that devices have.
  bool hasCode = std::ranges::any_of(contents.kernels, [](const Kernel &each) {
    return std::holds_alternative<HostKernel>(each.code);
  });
  if (!contents.isOfHost() || (code.empty() && (library || !hasCode))) {
    kernels.resize(contents.kernels.size());
    sharedKernels.resize(contents.kernels.size());
    return {};
  }
  if (library) // an earlier call missed a kernel
    dlclose(std::exchange(library, nullptr));
  return withAdvice(loadKernels());
}

Status Program::load(std::span<const uint8_t> image,
                     std::shared_ptr<const Program> &out) {
  ProgramSections sections;
  if (Status ok = openImage(image, sections); !ok)
    return ok;
  std::shared_ptr<Program> program(new Program);
  program->fileHash = sections.hash;
  program->features = sections.features;
  program->codeSize = sections.elf.size();
  if (Status ok = program->readPlanBytes(sections.plan); !ok)
    return ok;
  program->code.assign(sections.elf.begin(), sections.elf.end());
  out = std::move(program);
  return {};
}

static Status readFile(const char *path, std::vector<uint8_t> &out) {
  // O_NONBLOCK avoids waiting for a writer of a pipe.
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0) {
    Status unread = systemError("cannot open");
    if (fd >= 0)
      close(fd);
    return unread;
  }
  Status ok;
  if (!S_ISREG(info.st_mode))
    ok = makeError(StatusCode::Io, "not a regular file");
  else
    out.resize(static_cast<size_t>(info.st_size));
  for (size_t done = 0; ok && done < out.size();) {
    ssize_t n = read(fd, out.data() + done, out.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      ok = systemError("cannot read");
    else if (n == 0)
      // The file was truncated meanwhile; openImage finds no trailer.
      out.resize(done);
    done += n > 0 ? static_cast<size_t>(n) : 0;
  }
  close(fd);
  return ok;
}

} // namespace weft::runtime

using namespace weft::runtime;

static Status loadProgram(std::span<const uint8_t> image, weft_program **out) {
  auto handle = std::make_unique<weft_program>();
  if (Status ok = Program::load(image, handle->program); !ok)
    return ok;
  *out = handle.release();
  return {};
}

extern "C" {

WEFT_EXPORT weft_error *weft_program_load_memory(const void *data, size_t bytes,
                                                 weft_program **out) {
  return guarded([&]() -> Status {
    if (!out || (!data && bytes))
      return makeError(StatusCode::InvalidArgument, "null argument");
    *out = nullptr;
    return loadProgram({static_cast<const uint8_t *>(data), bytes}, out);
  });
}

WEFT_EXPORT weft_error *weft_program_load(const char *path,
                                          weft_program **out) {
  return guarded([&]() -> Status {
    if (!path || !out)
      return makeError(StatusCode::InvalidArgument, "null argument");
    *out = nullptr;
    std::vector<uint8_t> image;
    Status ok = readFile(path, image);
    if (ok)
      ok = loadProgram(image, out);
    return withAdvice(std::move(ok)).in(path);
  });
}

WEFT_EXPORT weft_error *weft_program_prepare(const weft_program *program) {
  return guarded([&]() -> Status {
    if (!program)
      return makeError(StatusCode::InvalidArgument, "null argument");
    return program->program->prepare();
  });
}

WEFT_EXPORT void weft_program_free(weft_program *program) { delete program; }

WEFT_EXPORT const void *weft_program_plan(const weft_program *program) {
  return program ? program->program->planBytes() : nullptr;
}
}
