#include "weft/runtime/training/callbacks/BackupAndRestore.h"

#include "weft/runtime/abi/weft.h"
#include "weft/runtime/data/Files.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace weft {

using nlohmann::json;

static constexpr const char *kText = "training.json";

void BackupAndRestore::options(CallbackOptions &o) {
  o.required("backup_dir");
  o.text("backup_dir", folder);
  o.frequency("save_freq", everyBatches);
  o.flag("double_checkpoint", keepsTwo);
  o.flag("delete_checkpoint", deletes);
  o.check(!folder.empty(), "\"backup_dir\" is empty; name a folder");
}

Status BackupAndRestore::trainBegin(TrainingRun &run) {
  if (!run.writesFiles())
    return {};
  std::error_code ignored; // opening a file in it reports the error
  std::filesystem::create_directories(folder, ignored);
  auto file = OutputFile::open(latest());
  return file ? Status{} : Status{file.error()};
}

static Result<Checkpoint> read(const std::string &path) {
  auto arrays = readNpz(path);
  if (!arrays)
    return arrays.error();
  Checkpoint out;
  for (NamedArray &named : *arrays) {
    if (named.name != kText) {
      out.arrays.push_back(std::move(named));
      continue;
    }
    out.said = json::parse(named.array.bytes.begin(), named.array.bytes.end(),
                           nullptr, /*allow_exceptions=*/false);
  }
  return out;
}

/// Checks that all processes resume from the same file.
Status BackupAndRestore::checkAlike(TrainingRun &run,
                                    const std::string &path) const {
  std::vector<uint8_t> mine(sizeof(uint64_t)), first;
  if (!path.empty())
    if (auto bytes = readFile(path)) {
      uint64_t hash = weft_hash(bytes->data(), bytes->size());
      std::memcpy(mine.data(), &hash, sizeof hash);
    }
  first = mine;
  if (Status ok = run.share(first); !ok)
    return ok;
  if (first != mine)
    return Error{latest() + ": is not the same for all processes; put the "
                            "folder on a disk that all of them see"};
  return {};
}

Status BackupAndRestore::restore(TrainingRun &run) {
  std::error_code ignored;
  std::string path = std::filesystem::exists(latest(), ignored) ? latest() : "";
  auto checkpoint =
      path.empty() ? Result<Checkpoint>(Checkpoint{}) : read(path);
  bool isLost = path.empty() || !checkpoint;
  if (isLost && std::filesystem::exists(previous(), ignored)) {
    path = previous();
    checkpoint = read(path);
  }
  if (Status alike = checkAlike(run, path); !alike)
    return alike;
  if (path.empty())
    return {};
  if (!checkpoint)
    return checkpoint.error();
  Status resumed = run.resume(std::move(*checkpoint));
  return resumed ? resumed : Error{path + ": " + resumed.message()};
}

Status BackupAndRestore::keepPrevious() const {
  std::error_code ignored;
  if (!keepsTwo || !std::filesystem::exists(latest(), ignored))
    return {};
  auto bytes = readFile(latest());
  auto file = bytes ? OutputFile::open(previous()) : bytes.error();
  if (!file)
    return file.error();
  file->write(bytes->data(), bytes->size());
  return file->commit();
}

Status BackupAndRestore::settled(TrainingRun &run, bool isEpochEnd) {
  bool isDue =
      everyBatches ? !isEpochEnd && ++batchesSince >= everyBatches : isEpochEnd;
  if (!isDue && !run.isInterrupted())
    return {};
  batchesSince = 0;
  auto checkpoint = run.checkpoint();
  if (!checkpoint)
    return checkpoint.error();
  if (!run.writesFiles())
    return {};
  std::string text = checkpoint->said.dump();
  Array bytes = Array::zeros(ElementType::UInt8, {int64_t(text.size())});
  std::copy(text.begin(), text.end(), bytes.bytes.begin());
  checkpoint->arrays.push_back({kText, std::move(bytes)});
  if (Status ok = keepPrevious(); !ok)
    return ok;
  return writeNpz(latest(), checkpoint->arrays);
}

Status BackupAndRestore::resultsSaved(bool writesFiles) {
  if (!deletes || !writesFiles)
    return {};
  std::error_code ignored; // a folder with other files is kept
  for (const std::string &path : {latest(), previous(), folder})
    std::filesystem::remove(path, ignored);
  return {};
}

void BackupAndRestore::save(Checkpoint &to) const {
  to.said = {{"batches_since", batchesSince}};
}

Status BackupAndRestore::resume(const Checkpoint &from) {
  batchesSince = from.integer("batches_since");
  return {};
}

} // namespace weft
