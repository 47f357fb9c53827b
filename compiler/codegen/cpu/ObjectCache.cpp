//===- ObjectCache.cpp - compiled kernels on disk --------------------------===//
//
// An entry is the file KEY.o: 32 bytes of SHA-256 over the object, then the
// object. It is written under another name and renamed, so readers never see
// half of it.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/cpu/LowerKernel.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

namespace weft::cpu {

static std::array<uint8_t, 32> digest(llvm::StringRef bytes) {
  return llvm::SHA256::hash(llvm::ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
}

bool readCachedObject(llvm::StringRef folder, llvm::StringRef key,
                      llvm::SmallVectorImpl<char> &object) {
  if (folder.empty())
    return false;
  auto buffer = llvm::MemoryBuffer::getFile(folder + "/" + key + ".o", /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer || (*buffer)->getBufferSize() <= 32)
    return false;
  llvm::StringRef sum = (*buffer)->getBuffer().take_front(32), bytes = (*buffer)->getBuffer().drop_front(32);
  std::array<uint8_t, 32> expected = digest(bytes);
  if (sum != llvm::StringRef(reinterpret_cast<const char *>(expected.data()), 32))
    return false;
  object.assign(bytes.begin(), bytes.end());
  return true;
}

void writeCachedObject(llvm::StringRef folder, llvm::StringRef key,
                       llvm::ArrayRef<char> object) {
  if (folder.empty() || llvm::sys::fs::create_directories(folder))
    return;
  int descriptor;
  llvm::SmallString<128> temporary;
  if (llvm::sys::fs::createUniqueFile(folder + "/%%%%%%%%.tmp", descriptor, temporary))
    return;
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  std::array<uint8_t, 32> sum = digest(llvm::StringRef(object.data(), object.size()));
  stream.write(reinterpret_cast<const char *>(sum.data()), sum.size());
  stream.write(object.data(), object.size());
  stream.close();
  bool broken = stream.has_error();
  stream.clear_error();
  if (broken || llvm::sys::fs::rename(temporary, folder + "/" + key + ".o"))
    llvm::sys::fs::remove(temporary);
}

} // namespace weft::cpu
