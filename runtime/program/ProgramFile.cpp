#include "weft/runtime/program/ProgramFile.h"

#include "weft/runtime/abi/ProgramImage.h"

#include <elf.h>

namespace weft::runtime {

uint64_t hostFeatures() {
#if defined(__x86_64__)
  uint64_t features = 0;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    features |= WEFT_FEATURE_AVX2;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    features |= WEFT_FEATURE_AVX512;
  if (__builtin_cpu_supports("avx512vnni"))
    features |= WEFT_FEATURE_AVX512_VNNI;
  return features;
#elif defined(__aarch64__)
  return WEFT_FEATURE_NEON;
#else
  return 0;
#endif
}

static std::string featureNames(uint64_t features) {
  const char *names[] = {"avx2", "avx512", "neon", "cuda", "avx512vnni"};
  std::string text;
  for (unsigned bit = 0; bit < 64; ++bit)
    if (features >> bit & 1)
      text += (text.empty() ? "" : ", ") +
              (bit < std::size(names) ? std::string(names[bit])
                                      : "feature " + std::to_string(bit));
  return text.empty() ? "none" : text;
}

static Status checkTrailer(std::span<const uint8_t> image,
                           weft_trailer &trailer) {
  if (image.size() < sizeof trailer)
    return makeError(StatusCode::InvalidFile,
                     "not a .weft program: ", image.size(),
                     " bytes, the trailer alone has ", sizeof trailer);
  size_t body = image.size() - sizeof trailer;
  std::memcpy(&trailer, image.data() + body, sizeof trailer);
  if (std::memcmp(trailer.magic, "WEFTPROG", 8) != 0)
    return makeError(StatusCode::InvalidFile,
                     "not a .weft program, or its end is "
                     "cut off: no trailer at byte ",
                     body, "; compile it again");
  if (trailer.abi_version != WEFT_ABI_VERSION)
    return makeError(StatusCode::Incompatible, "program has ABI version ",
                     trailer.abi_version, ", this runtime ", WEFT_ABI_VERSION,
                     "; compile it again with the same version of weft");
  if (trailer.reserved != 0)
    return makeError(StatusCode::InvalidFile,
                     "altered program: reserved field is ", trailer.reserved,
                     ", not 0");
  if (trailer.elf_bytes > body ||
      trailer.plan_bytes != body - trailer.elf_bytes)
    return makeError(StatusCode::InvalidFile, "cut or altered program: ", body,
                     " bytes before the trailer, which says ",
                     trailer.elf_bytes, " + ", trailer.plan_bytes);
  uint64_t hash = hashProgram(image.data(), body, trailer);
  if (hash != trailer.hash)
    return makeError(StatusCode::InvalidFile, "altered program: hash ",
                     std::hex, hash, ", its trailer says ", trailer.hash);
  return {};
}

static Status badElf(const char *why) {
  return makeError(StatusCode::InvalidFile,
                   "kernels of the program cannot be loaded: ", why);
}

/// Checks the ELF image: a correct trailer may follow a wrong ELF, and all
/// ranges that dlopen maps must be within its bytes.
static Status checkElf(std::span<const uint8_t> elf) {
#if defined(__aarch64__)
  constexpr uint16_t machine = EM_AARCH64;
#else
  constexpr uint16_t machine = EM_X86_64;
#endif
  Elf64_Ehdr header;
  if (elf.size() < sizeof header)
    return badElf("no ELF image");
  std::memcpy(&header, elf.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return badElf("no ELF image");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != machine)
    return badElf("ELF image of another machine");
  if (header.e_type != ET_DYN)
    return badElf("ELF image is no shared object");
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > elf.size() ||
      header.e_phnum > (elf.size() - header.e_phoff) / sizeof(Elf64_Phdr))
    return badElf("program headers outside the image");
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, elf.data() + header.e_phoff + i * sizeof segment,
                sizeof segment);
    if (segment.p_offset > elf.size() ||
        segment.p_filesz > elf.size() - segment.p_offset)
      return badElf("a segment ends outside the image");
  }
  return {};
}

Status checkCode(std::span<const uint8_t> elf, uint64_t features) {
  if (uint64_t missing = features & ~hostFeatures())
    return makeError(StatusCode::Incompatible, "program needs ",
                     featureNames(features), ", this processor lacks ",
                     featureNames(missing), "; compile it for this target");
  return checkElf(elf);
}

Status openImage(std::span<const uint8_t> image, ProgramSections &out) {
  weft_trailer trailer;
  if (Status ok = checkTrailer(image, trailer); !ok)
    return ok;
  out.hash = trailer.hash;
  out.elf = image.first(trailer.elf_bytes);
  out.plan = image.subspan(trailer.elf_bytes, trailer.plan_bytes);
  out.features = trailer.features;
  return {};
}

} // namespace weft::runtime
