//===- Memory.h - aligned memory of one device ------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_PROGRAM_MEMORY_H
#define WEFT_RUNTIME_PROGRAM_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <utility>

namespace weft::runtime {

/// Memory in zeroed pages of its own, aligned to 64 bytes. `colour` (the
/// device) shifts the start, so that the same offset of several devices does
/// not fall into the same cache set: an all-reduce reads all of them.
class Memory {
public:
  Memory() = default;
  Memory(Memory &&other) noexcept { *this = std::move(other); }
  Memory &operator=(Memory &&other) noexcept {
    std::swap(pages, other.pages);
    std::swap(mapped, other.mapped);
    std::swap(isHuge, other.isHuge);
    std::swap(begin, other.begin);
    std::swap(count, other.count);
    return *this;
  }
  ~Memory() {
    if (pages)
      munmap(pages, mapped);
  }

  /// Allocates; false if there is not enough memory.
  bool allocate(size_t bytes, int64_t colour) {
    size_t shift = size_t(colour % 16) * 320;
    size_t total = (bytes + shift + 4095) / 4096 * 4096;
    void *p = mmap(nullptr, total ? total : 4096, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
      return false;
    if (pages)
      munmap(pages, mapped);
    pages = p;
    mapped = total ? total : 4096;
    isHuge = false;
    begin = static_cast<char *>(p) + shift;
    count = bytes;
    return true;
  }
  /// Lets the system join its pages to huge ones, if they have 4 MiB or more,
  /// after they were first touched: if a host has reclaimed free memory of a
  /// virtual machine, a huge page takes many times as long as the small pages
  /// that the machine still has.
  void joinPages() {
    if (!std::exchange(isHuge, true) && mapped >= size_t(4) << 20)
      madvise(pages, mapped, MADV_HUGEPAGE);
  }
  enum class Access { None, Read, Write };
  /// Makes the memory readable and writable, only readable, or neither.
  bool setAccess(Access access) const {
    int allowed = access == Access::Write  ? PROT_READ | PROT_WRITE
                  : access == Access::Read ? PROT_READ
                                           : PROT_NONE;
    return !pages || mprotect(pages, mapped, allowed) == 0;
  }
  void *data() const { return begin; }
  size_t size() const { return count; }

private:
  void *pages = nullptr;
  size_t mapped = 0;
  bool isHuge = false; ///< whether joinPages() was called
  char *begin = nullptr;
  size_t count = 0;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_MEMORY_H
