#include "weft/training/callbacks/BackupAndRestore.h"

#include "weft/data/files/Files.h"
#include "weft/data/formats/Npz.h"
#include "weft/runtime/abi/weft.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace weft {

using nlohmann::json;

static constexpr const char *kText = "training.json";

void BackupAndRestore::options(keras::Options &o) {
  o.required("backup_dir");
  o.file("backup_dir", folder);
  o.countOr("save_freq", everyBatches, {{"epoch", 0}});
  o.flag("double_checkpoint", keepsTwo);
  o.flag("delete_checkpoint", deletes);
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
  auto arrays = openNpz(path);
  if (!arrays)
    return arrays.error();
  Checkpoint out;
  for (StoredArray &array : *arrays) {
    if (array.name != kText) {
      out.arrays.push_back(std::move(array));
      continue;
    }
    Result<Array> text = array.read();
    if (!text)
      return text.error();
    out.said = json::parse(text->bytes.begin(), text->bytes.end(), nullptr,
                           /*allow_exceptions=*/false);
  }
  return out;
}

/// Checks that all processes resume from the same file.
Status BackupAndRestore::checkAlike(TrainingRun &run,
                                    const std::string &path) const {
  std::vector<uint8_t> mine(sizeof(uint64_t)), first;
  uint64_t hash = 0;
  if (!path.empty() &&
      readFileInChunks(path, [&](const uint8_t *chunk, size_t size) {
        hash = hash * 31 + weft_hash(chunk, size);
        return Status();
      }))
    std::memcpy(mine.data(), &hash, sizeof hash);
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
  return resumed.in(path);
}

Status BackupAndRestore::keepPrevious() const {
  std::error_code ignored;
  if (!keepsTwo || !std::filesystem::exists(latest(), ignored))
    return {};
  auto file = OutputFile::open(previous());
  if (!file)
    return file.error();
  Status copied =
      readFileInChunks(latest(), [&](const uint8_t *chunk, size_t size) {
        file->write(chunk, size);
        return Status();
      });
  return copied ? file->commit() : copied;
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
  std::string text = checkpoint->said.dump();
  Array bytes = Array::zeros(ElementType::UInt8, {int64_t(text.size())});
  std::copy(text.begin(), text.end(), bytes.bytes.begin());
  checkpoint->arrays.push_back(storedInMemory({kText, std::move(bytes)}));
  Status kept = run.writesFiles() ? keepPrevious() : Status();
  if (!kept) {
    Status read = readAll(checkpoint->arrays); // other processes wait for it
    return kept;
  }
  return writeNpz(latest(), checkpoint->arrays, run.writesFiles());
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

Status BackupAndRestore::resume(TrainingRun &, const Checkpoint &from) {
  batchesSince = from.integer("batches_since");
  return {};
}

} // namespace weft
