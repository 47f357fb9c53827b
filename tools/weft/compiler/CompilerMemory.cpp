//===- CompilerMemory.cpp - frees the compiler's memory before training ---===//

#include "weft/tools/weft/compiler/CompilerMemory.h"

#ifdef __GLIBC__
#include <cstdint>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

#ifdef __GLIBC__
/// Drops the unchanged file pages of one library's code, from 8 MiB on.
static int releaseCode(dl_phdr_info *library, size_t, void *) {
  constexpr uintptr_t large = 8 << 20;
  uintptr_t page = uintptr_t(sysconf(_SC_PAGESIZE));
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = library->dlpi_phdr[i];
    bool code = segment.p_type == PT_LOAD && (segment.p_flags & PF_X) &&
                !(segment.p_flags & PF_W);
    if (!code || segment.p_memsz < large)
      continue;
    uintptr_t begin =
        (library->dlpi_addr + segment.p_vaddr + page - 1) / page * page;
    uintptr_t end =
        (library->dlpi_addr + segment.p_vaddr + segment.p_memsz) / page * page;
    // Addresses of the loader are numbers.
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}
#endif

void weft::tool::releaseCompilerMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
  dl_iterate_phdr(releaseCode, nullptr);
#endif
}
