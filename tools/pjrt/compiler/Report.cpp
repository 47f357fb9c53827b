//===- Report.cpp - files that WEFT_EXPLAIN=dir writes --------------------===//

#include "weft/tools/pjrt/compiler/Report.h"

#include "weft/base/AtomicFile.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <unistd.h>

using namespace weft::pjrt;

static const char *folder() {
  const char *text = std::getenv("WEFT_EXPLAIN");
  return text && *text ? text : nullptr;
}

bool weft::pjrt::wantsReports() { return folder() != nullptr; }

/// Replaces the file at `path` by `text`.
static bool replace(const std::string &path, const std::string &text) {
  weft::AtomicFile file;
  if (file.open(path, {.lasting = false}) != 0)
    return false;
  for (size_t done = 0; done < text.size();) {
    ssize_t count =
        ::write(file.descriptor(), text.data() + done, text.size() - done);
    if (count <= 0)
      return false;
    done += size_t(count);
  }
  return file.commit() == 0;
}

/// Creates the report's file, with the number after the largest in the folder
/// and the program's name; empty if no file can be created.
static std::string claim(const std::string &name) {
  std::string plain = name;
  for (char &c : plain)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.')
      c = '_';
  std::error_code failure;
  std::filesystem::create_directories(folder(), failure);
  int number = 0;
  for (const auto &entry :
       std::filesystem::directory_iterator(folder(), failure)) {
    std::string file = entry.path().filename();
    int taken = 0;
    std::from_chars(file.data(), file.data() + file.size(), taken);
    number = std::max(number, taken);
  }
  char prefix[16];
  std::snprintf(prefix, sizeof prefix, "/%03d-", number + 1);
  std::string path = folder() + (prefix + plain) + ".txt";
  if (replace(path, ""))
    return path;
  std::fprintf(stderr,
               "Weft: WEFT_EXPLAIN is %s, where no file can be made; set it to "
               "a folder\n",
               folder());
  return "";
}

std::shared_ptr<Report> Report::make(const std::string &name,
                                     std::string explanation, double seconds) {
  if (!wantsReports())
    return nullptr;
  auto report = std::make_shared<Report>();
  report->path = claim(name);
  report->explanation = std::move(explanation);
  report->compiling = seconds;
  report->write();
  return report;
}

Report::~Report() { write(); }

void Report::ran(double seconds, uint64_t bytes) {
  std::lock_guard<std::mutex> guard(mutex);
  if (runs == 0)
    first = seconds;
  sum += seconds;
  moved = bytes;
  ++runs;
  if ((runs & (runs - 1)) == 0)
    write();
}

void Report::write() {
  if (path.empty())
    return;
  std::string text = explanation;
  char line[200];
  std::snprintf(line, sizeof line, "\nTime: compiled in %.1f ms",
                compiling * 1e3);
  text += line;
  if (runs) {
    std::snprintf(line, sizeof line,
                  "; %lld %s, %.3f ms each, the first %.3f ms; in the last one "
                  "each device moved %llu bytes",
                  static_cast<long long>(runs), runs == 1 ? "run" : "runs",
                  sum / static_cast<double>(runs) * 1e3, first * 1e3,
                  static_cast<unsigned long long>(moved));
    text += line;
  }
  replace(path, text + ".\n");
}
