//===- Settings.h - settings from the environment ---------------*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_DRIVER_SETTINGS_H
#define WEFT_TEST_CUDA_DRIVER_SETTINGS_H

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace weft::fake {

struct Settings {
  uint64_t seed = 1;                    ///< FAKE_CUDA_SEED
  int gpus = 1;                         ///< FAKE_CUDA_GPUS
  uint64_t memory = uint64_t(16) << 30; ///< FAKE_CUDA_MEMORY, bytes of a GPU
  int version = 13000;                  ///< FAKE_CUDA_VERSION
  bool hasPeers = true;                 ///< FAKE_CUDA_PEERS=none
  uint64_t mostPeers = 8;               ///< FAKE_CUDA_PEERS=N
  int major = 9, minor = 0;             ///< FAKE_CUDA_CHIP=sm_90
  bool checksWritten = true;            ///< FAKE_CUDA_UNWRITTEN=ignore
  std::chrono::seconds patience{30};    ///< FAKE_NCCL_PATIENCE
  std::set<std::string> missing;        ///< FAKE_CUDA_MISSING=name,name
  std::string
      calls; ///< FAKE_CUDA_CALLS: a file to write the counts of calls to
  /// FAKE_CUDA_FAIL=name:n[:result],..: the n-th call of a function fails, or
  /// with the name `kernel` the n-th kernel that runs.
  struct Failure {
    uint64_t call = 1;
    int result = 0; ///< 0: the function's usual error
  };
  std::map<std::string, Failure> failures;

  static Settings fromEnvironment();
};

} // namespace weft::fake

#endif // WEFT_TEST_CUDA_DRIVER_SETTINGS_H
