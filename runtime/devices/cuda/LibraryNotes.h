//===- LibraryNotes.h - why programs run without a library ------*- C++ -*-===//
//
//   notes.add("cuBLASLt 13.1.0: cublasLtMatmul failed with ... (13)", "dot_8x8");
//   notes.texts()[0]
//     // "cuBLASLt 13.1.0: cublasLtMatmul failed with ... (13); the program's
//     //  own code computes kernel "dot_8x8""
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_LIBRARYNOTES_H
#define WEFT_RUNTIME_DEVICES_CUDA_LIBRARYNOTES_H

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace weft::runtime {

/// The notes of a set of devices, one for each reason; for any thread.
class LibraryNotes {
public:
  void add(const std::string &reason, const std::string &kernel) {
    std::lock_guard<std::mutex> guard(mutex);
    if (first.emplace(reason, kernel).second)
      reasons.push_back(reason);
  }
  /// The notes in the order in which they were added; each names the first
  /// kernel that it is about.
  std::vector<std::string> texts() const {
    std::lock_guard<std::mutex> guard(mutex);
    std::vector<std::string> all;
    for (const std::string &reason : reasons)
      all.push_back(reason + "; the program's own code computes kernel \"" +
                    first.at(reason) + "\"");
    return all;
  }

private:
  mutable std::mutex mutex;
  std::map<std::string, std::string> first; ///< the first kernel by reason
  std::vector<std::string> reasons;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_LIBRARYNOTES_H
