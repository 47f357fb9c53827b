#include "weft/runtime/devices/cuda/TranslationCache.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::runtime {

static std::string environmentText(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// Whether the driver can write to its own folder, ~/.nv.
static bool canWriteHome() {
  std::string home = environmentText("HOME"), folder = home + "/.nv";
  if (home.empty())
    return false;
  bool exists = access(folder.c_str(), F_OK) == 0;
  return access(exists ? folder.c_str() : home.c_str(), W_OK) == 0;
}

/// Whether the folder is one that only this user can write to; code of others
/// must not run. It is created if it is not there.
static bool isOwn(const std::string &folder) {
  std::error_code error;
  std::filesystem::create_directories(
      std::filesystem::path(folder).parent_path(), error);
  mkdir(folder.c_str(), 0700);
  struct stat info = {};
  return lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         info.st_uid == geteuid() && !(info.st_mode & (S_IWGRP | S_IWOTH));
}

void placeTranslationCache() {
  if (!environmentText("CUDA_CACHE_PATH").empty() || canWriteHome())
    return;
  std::string cache = environmentText("XDG_CACHE_HOME"),
              temporary = environmentText("TMPDIR");
  if (temporary.empty())
    temporary = "/tmp";
  std::string folder =
      cache.empty() ? temporary + "/weft-cuda-" + std::to_string(geteuid())
                    : cache + "/weft/cuda";
  if (isOwn(folder))
    setenv("CUDA_CACHE_PATH", folder.c_str(), /*overwrite=*/1);
}

} // namespace weft::runtime
