#include "weft/runtime/devices/cuda/LibraryFolders.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace weft::runtime {

namespace fs = std::filesystem;

static std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

static std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ':');)
    if (!part.empty())
      parts.push_back(part);
  return parts;
}

/// The folders of a folder, in the order of their names, the last first: newer
/// versions have larger names.
static std::vector<fs::path> foldersIn(const fs::path &folder) {
  std::vector<fs::path> all;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->is_directory(error))
      all.push_back(entry->path());
  std::sort(all.rbegin(), all.rend());
  return all;
}

/// Adds nvidia/*/lib of a folder of Python's packages.
static void addPackages(const fs::path &packages,
                        std::vector<std::string> &out) {
  for (const fs::path &package : foldersIn(packages / "nvidia")) {
    std::error_code error;
    if (fs::is_directory(package / "lib", error))
      out.push_back((package / "lib").string() + "/");
  }
}

/// Adds the packages of a Python that is installed in a folder: those of a
/// virtual environment, of a user's own Python, and Debian's.
static void addPython(const fs::path &prefix, std::vector<std::string> &out) {
  for (const fs::path &version : foldersIn(prefix / "lib"))
    if (version.filename().string().starts_with("python3"))
      for (const char *packages : {"site-packages", "dist-packages"})
        addPackages(version / packages, out);
}

/// The folder of packages that holds this library, if it is part of one.
static fs::path ownPackages() {
  Dl_info self;
  if (!dladdr(reinterpret_cast<void *>(&ownPackages), &self) || !self.dli_fname)
    return {};
  for (fs::path folder = fs::path(self.dli_fname).parent_path();
       folder.has_relative_path(); folder = folder.parent_path())
    if (folder.filename() == "site-packages" ||
        folder.filename() == "dist-packages")
      return folder;
  return {};
}

/// The folder of the first python3 in PATH: /usr for /usr/bin/python3.
static fs::path pythonInPath() {
  for (const std::string &folder : split(variable("PATH"))) {
    std::error_code error;
    if (fs::exists(fs::path(folder) / "python3", error))
      return fs::path(folder).parent_path();
  }
  return {};
}

std::vector<std::string> libraryFolders() {
  std::vector<std::string> all;
  if (std::string asked = variable("WEFT_CUDA_LIBRARIES"); !asked.empty()) {
    for (const std::string &folder : split(asked))
      if (folder != "none")
        all.push_back(folder + "/");
    return all;
  }
  all.push_back("");
  if (fs::path own = ownPackages(); !own.empty())
    addPackages(own, all);
  for (const fs::path &prefix :
       {fs::path(variable("VIRTUAL_ENV")), fs::path(variable("CONDA_PREFIX")),
        pythonInPath()})
    if (!prefix.empty())
      addPython(prefix, all);
  if (pythonInPath() == "/usr")
    addPython("/usr/local", all);
  all.push_back("/usr/local/cuda/lib64/");
  return all;
}

std::vector<LibraryFile> libraryFiles(const std::vector<std::string> &names) {
  std::vector<LibraryFile> all;
  std::vector<std::string> folders = libraryFolders();
  for (size_t n = 0; n < folders.size(); ++n) {
    bool isPackage = variable("WEFT_CUDA_LIBRARIES").empty() && n > 0 &&
                     n + 1 < folders.size();
    for (size_t name = 0; name < names.size(); ++name) {
      std::string path = folders[n] + names[name];
      std::error_code error;
      if (!isPackage || fs::exists(path, error))
        all.push_back({path, name});
    }
  }
  return all;
}

Status openFirst(const std::vector<std::string> &names,
                 const std::function<Status(const LibraryFile &)> &open) {
  Message why;
  for (const LibraryFile &file : libraryFiles(names)) {
    Status opened = open(file);
    if (opened)
      return opened;
    why += (why.empty() ? "" : "; ") + opened.error().message;
  }
  return makeError(StatusCode::Incompatible,
                   why.empty() ? Message("WEFT_CUDA_LIBRARIES names no folder")
                               : why);
}

Status openLibrary(const std::string &path, void *&out) {
  out = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return out ? Status() : makeError(StatusCode::Incompatible, dlerror());
}

std::string libraryPath(const void *function, const std::string &name) {
  Dl_info found;
  return dladdr(function, &found) && found.dli_fname ? found.dli_fname : name;
}

std::string libraryVersion(size_t number) {
  return std::to_string(number / 10000) + "." +
         std::to_string(number / 100 % 100) + "." +
         std::to_string(number % 100);
}

} // namespace weft::runtime
