//===- Mailbox.h - messages between fake GPUs of processes ------*- C++ -*-===//
//
// A message is a file in a folder of shared memory, which its receiver removes:
//
//   post(folder, "0.call3.1-2", bytes);           // rank 1, for rank 2's process
//   std::vector<uint8_t> bytes;
//   if (take(folder, "0.call3.1-2", bytes)) ...   // false: not there yet
//
// Processes that share a communicator have one folder, named by its unique id,
// in /dev/shm or in FAKE_NCCL_FOLDER. The last one to leave removes it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_NCCL_MAILBOX_H
#define WEFT_TEST_CUDA_NCCL_MAILBOX_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weft::fake {

/// The folder of an id.
std::string folderOf(const std::string &id);
void post(const std::string &folder, const std::string &name,
          const std::vector<uint8_t> &bytes);
/// Takes a message, which is gone then.
bool take(const std::string &folder, const std::string &name,
          std::vector<uint8_t> &bytes);
/// Reads a message that stays.
bool look(const std::string &folder, const std::string &name,
          std::vector<uint8_t> &bytes);
void removeFolder(const std::string &folder);
/// Waits until the condition holds, as a call of NCCL that needs other processes
/// does; false after FAKE_NCCL_PATIENCE seconds, 30 by default.
bool waitUntil(const std::function<bool()> &condition);

} // namespace weft::fake

#endif // WEFT_TEST_CUDA_NCCL_MAILBOX_H
