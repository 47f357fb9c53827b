//===- Mailbox.cpp - messages between fake GPUs of processes --------------===//

#include "weft/test/cuda/nccl/Mailbox.h"

#include "weft/test/cuda/driver/LibraryCalls.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

namespace weft::fake {

namespace fs = std::filesystem;

std::string folderOf(const std::string &id) {
  const char *root = std::getenv("FAKE_NCCL_FOLDER");
  return std::string(root && *root ? root : "/dev/shm") + "/" + id;
}

void post(const std::string &folder, const std::string &name,
          const std::vector<uint8_t> &bytes) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  std::string path = folder + "/" + name, part = path + ".part";
  std::FILE *file = std::fopen(part.c_str(), "wb");
  if (!file) {
    fakeCudaReport("the fake NCCL cannot write " + part);
    return;
  }
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
  fs::rename(part, path, failed); // whole, or not there
}

bool look(const std::string &folder, const std::string &name,
          std::vector<uint8_t> &bytes) {
  std::FILE *file = std::fopen((folder + "/" + name).c_str(), "rb");
  if (!file)
    return false;
  std::fseek(file, 0, SEEK_END);
  bytes.resize(size_t(std::ftell(file)));
  std::rewind(file);
  size_t read = std::fread(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
  return read == bytes.size();
}

bool take(const std::string &folder, const std::string &name,
          std::vector<uint8_t> &bytes) {
  if (!look(folder, name, bytes))
    return false;
  std::error_code failed;
  fs::remove(folder + "/" + name, failed);
  return true;
}

void removeFolder(const std::string &folder) {
  std::error_code failed;
  fs::remove_all(folder, failed);
}

bool waitUntil(const std::function<bool()> &condition) {
  auto end = std::chrono::steady_clock::now() + fakeCudaPatience();
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end)
      return false;
    std::this_thread::yield();
  }
  return true;
}

} // namespace weft::fake
