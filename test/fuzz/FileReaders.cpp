//===- FileReaders.cpp - every reader of a foreign file -------------------===//

#include "weft/test/fuzz/FileReaders.h"

#include "weft/base/WriteAll.h"
#include "weft/base/pipeline/Generators.h"
#include "weft/base/pipeline/ScheduleJson.h"
#include "weft/compiler/frontends/keras/distribution/Distribution.h"
#include "weft/compiler/frontends/keras/import/Import.h"
#include "weft/compiler/frontends/keras/model/SavedPaths.h"
#include "weft/data/formats/KerasArchive.h"
#include "weft/data/formats/Safetensors.h"
#include "weft/data/formats/WeightShards.h"
#include "weft/data/images/DecodeImage.h"
#include "weft/data/images/ResizeImage.h"
#include "weft/data/sources/ArrayFile.h"
#include "weft/tools/keras/LegacyWeights.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/mman.h>
#include <unistd.h>

using namespace weft;
using namespace weft::test;

static std::string contents(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The files of a folder of fixtures with this ending.
static std::vector<std::string> fixtures(const std::string &folder,
                                         const std::string &ending) {
  std::vector<std::filesystem::path> paths;
  for (const auto &entry : std::filesystem::directory_iterator(
           std::filesystem::path(WEFT_FIXTURES) / folder))
    if (entry.path().filename().string().ends_with(ending))
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> out;
  for (const auto &path : paths)
    out.push_back(contents(path));
  return out;
}

/// Calls a reader that takes a path with the bytes as a file in memory.
static bool withFile(const std::string &bytes,
                     const std::function<bool(const std::string &)> &read) {
  int file = memfd_create("fuzz", MFD_CLOEXEC);
  bool written = writeAll(file, bytes.data(), bytes.size());
  bool accepted = written && read("/proc/self/fd/" + std::to_string(file));
  close(file);
  return accepted;
}

/// Calls a reader with the path of a named file, for libraries that need one.
static bool
withNamedFile(const std::string &bytes,
              const std::function<bool(const std::string &)> &read) {
  std::string path =
      std::filesystem::temp_directory_path() / "weft-fuzz-XXXXXX";
  int file = mkstemp(path.data());
  bool written = writeAll(file, bytes.data(), bytes.size());
  close(file);
  bool accepted = written && read(path);
  unlink(path.c_str());
  return accepted;
}

static std::vector<uint8_t> asBytes(const std::string &text) {
  return {text.begin(), text.end()};
}

static bool readModelText(const std::string &text) {
  static const auto layouts = [] {
    std::vector<keras::Distribution> out;
    for (const std::string &file :
         fixtures("seed-functional-mlp", "mp-2x4.json"))
      out.push_back(*keras::readDistribution(file, 8));
    out.push_back(keras::dataParallel(8));
    return out;
  }();
  auto model = keras::readModel(text, {});
  if (!model)
    return false;
  keras::drawSeeds(*model, 1);
  keras::savedPaths(*model);
  keras::savedGroups(*model);
  for (const keras::Variable &variable : model->variables)
    keras::variableFacts(variable);
  for (const keras::Distribution &distribution : layouts)
    (void)keras::resolveLayouts(distribution, *model);
  return true;
}

/// Reads a model and makes its steps, which may be refused.
static bool importModelText(const std::string &text) {
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) {});
  auto model = keras::readModel(text, {});
  if (!model)
    return false;
  keras::ImportOptions options;
  options.batchSize = 2;
  for (StepKind step : {StepKind::Predict, StepKind::Train})
    if (auto module =
            keras::importStep(&context, *model, nullptr, step, options);
        succeeded(module) && failed(mlir::verify(**module)))
      abort();
  return true;
}

/// The models of the cases in fixtures/layers, one a line.
static std::vector<std::string> modelsOfCases() {
  std::vector<std::string> out;
  for (const std::string &file : fixtures("layers", ".json")) {
    std::istringstream lines(file);
    for (std::string line; std::getline(lines, line);)
      if (size_t at = line.find("\"model\":"); at != line.npos)
        out.push_back(line.substr(at + 8, line.rfind('}') - at - 8));
  }
  return out;
}

static bool readDistributionText(const std::string &text) {
  static const auto model = *keras::readModel(
      fixtures("seed-functional-mlp", "model.json").front(), {});
  auto distribution = keras::readDistribution(text, 8);
  return distribution && keras::resolveLayouts(*distribution, model);
}

static bool readAll(const Result<std::vector<StoredArray>> &arrays) {
  return arrays && std::all_of(arrays->begin(), arrays->end(),
                               [](const StoredArray &array) {
                                 return bool(array.read());
                               });
}

static bool readArchive(const std::string &bytes) {
  return withFile(bytes, [](const std::string &path) {
    auto archive = readKerasArchive(path, {readerLimit});
    return archive && readAll(archive->weights);
  });
}

/// Reads a whole model of an .h5 file, with its weights.
static bool readWholeModel(const std::string &bytes) {
  return withFile(bytes, [](const std::string &path) {
    auto file = readKerasH5(path, {readerLimit});
    if (!file)
      return false;
    auto model =
        keras::readLegacyModel({file->config, file->training, file->version});
    auto weights =
        model ? keras::legacyDatasets(*file, *model, path) : model.error();
    return readAll(weights);
  });
}

static bool readNpzFile(const std::string &bytes) {
  return withFile(bytes, [](const std::string &path) {
    return bool(readNpz(path, {readerLimit}));
  });
}

static bool readWeights(const std::string &bytes) {
  return withFile(bytes, [](const std::string &path) {
    return readAll(openHdf5(path, {readerLimit}));
  });
}

/// Opens a file whose rows are not kept in memory, and reads the last row of
/// each array.
static bool readRows(const std::string &bytes, const SourceOptions &options) {
  return withNamedFile(bytes, [&](const std::string &path) {
    auto file = ArrayFile::open(path, options);
    for (const std::string &key :
         file ? (*file)->keys() : std::vector<std::string>()) {
      auto rows = (*file)->rows(key, {});
      std::vector<uint8_t> row(
          rows ? std::min<size_t>((*rows)->rowBytes(), readerLimit) : 0);
      bool hasRow = rows && (*rows)->rows() > 0 && !row.empty() &&
                    row.size() == (*rows)->rowBytes();
      int64_t last = hasRow ? (*rows)->rows() - 1 : 0;
      if (hasRow && !(*rows)->read({&last, 1}, row.data()))
        return false;
    }
    return bool(file);
  });
}

static bool readTable(const std::string &text) {
  SourceOptions options{.inMemory = 64, .inputs = {"a,b"}, .targets = {"c"}};
  return readRows(text, options);
}

static bool readImage(const std::string &bytes) {
  bool isRead = false;
  for (int channels : {1, 3, 4})
    if (auto image = decodeImage(asBytes(bytes), channels, "fuzz.png")) {
      resizeImage(*image, 7, 5, {});
      isRead = true;
    }
  return isRead;
}

static bool readSafetensors(const std::string &bytes) {
  return withFile(bytes, [](const std::string &path) {
    auto tensors = openSafetensors(path, {readerLimit});
    for (const StoredArray &tensor :
         tensors ? *tensors : std::vector<StoredArray>())
      if (!tensor.read())
        return false;
    return bool(tensors);
  });
}

/// Reads a map of shards, which do not exist.
static bool readShardMap(const std::string &text) {
  return withFile(text, [](const std::string &path) {
    Status read = visitWeightShards(
        path, [](std::vector<StoredArray> &) { return Status(); },
        {readerLimit});
    return read || read.message().find("No such file") != std::string::npos;
  });
}

/// A file of two tensors, float32 and bfloat16.
static std::string sampleTensors() {
  std::string header =
      R"({"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
      R"("b":{"dtype":"BF16","shape":[3],"data_offsets":[16,22]}})";
  uint64_t size = header.size();
  return std::string(reinterpret_cast<const char *>(&size), sizeof size) +
         header + std::string(22, '\1');
}

static std::string asText(const std::vector<uint8_t> &bytes) {
  return {bytes.begin(), bytes.end()};
}

/// Readers of data by rows, and of weights in files other than Keras'.
static std::vector<FileReader>
sourceReaders(const std::vector<std::string> &npz,
              const std::vector<std::string> &members) {
  std::vector<std::string> images = fixtures("images", ".png");
  for (const char *ending : {".jpg", ".gif", ".bmp"})
    for (const std::string &image : fixtures("images", ending))
      images.push_back(image);
  return {
      {"npz-rows", false, npz,
       [](const std::string &bytes) {
         return readRows(bytes, {.inMemory = 0});
       }},
      {"hdf5-rows", false, members,
       [](const std::string &bytes) {
         return readRows(bytes, {.inMemory = 0});
       }},
      {"csv",
       true,
       {"a,b,\"c \"\"d\"\"\",c\r\n1,-2.5e3,x,4\n\"5\",nan,\"y\nz\",8\n"},
       readTable},
      {"images", false, images, readImage},
      {"safetensors", false, {sampleTensors()}, readSafetensors},
      {"weights-json",
       true,
       {R"({"metadata": {"total_size": 8}, "weight_map": {"/a/vars": "m_00000.weights.h5", "/b/vars": ["m_0.h5", "m_1.h5"]}})"},
       readShardMap},
  };
}

static FileReader schedules() {
  return {"schedule",
          true,
          {pipeline::writeSchedule(*pipeline::zeroBubble(2, 3)),
           pipeline::writeSchedule(*pipeline::interleaved(2, 4, 2))},
          [](const std::string &text) {
            return bool(pipeline::readSchedule(text));
          }};
}

std::vector<FileReader> weft::test::fileReaders() {
  std::vector<std::string> models = fixtures("keras", ".json");
  for (const std::string &old : fixtures("legacy", ".json"))
    models.push_back(old);
  for (const char *folder :
       {"seed-functional-mlp", "seed-sequential-mnist", "nested",
        "nested-sequential", "seed-cnn", "resnet-tiny", "spatial-cnn"})
    models.push_back(fixtures(folder, "model.json").front());
  std::vector<std::string> npz = fixtures("callbacks", ".npz");
  std::vector<std::string> archives = fixtures("remainder", ".keras"), members,
                           arrays;
  withFile(archives.front(), [&](const std::string &path) {
    members.push_back(asText(*ZipReader::open(path)->read("model.weights.h5")));
    return true;
  });
  withFile(npz.front(), [&](const std::string &path) {
    auto file = NpzFile::open(path);
    for (const std::string &key : file->keys()) {
      Array array = *file->read(key);
      arrays.push_back(npyHeader(array.type, array.shape) +
                       asText(array.bytes));
    }
    return true;
  });
  auto readArray = [](const std::string &bytes) {
    return bool(parseNpy(asBytes(bytes), "fuzz.npy"));
  };
  auto readName = [](const std::string &name) {
    return bool(parseArraySource(name));
  };
  std::vector<FileReader> readers = {
      {"model", true, models, readModelText},
      {"layers", true, modelsOfCases(), importModelText},
      {"distribution", true, fixtures("seed-functional-mlp", "8.json"),
       readDistributionText},
      schedules(),
      {"npy", false, arrays, readArray},
      {"npz", false, npz, readNpzFile},
      {"keras", false, archives, readArchive},
      {"keras-h5", false, fixtures("legacy", ".h5"), readWholeModel},
      {"hdf5", false, members, readWeights},
      {"plan", false, samplePlans(), readPlan},
      {"weft", false, samplePrograms(), readProgram},
      {"command",
       true,
       {"f.npz:x[0:1280]", "a.npy[:-1]", "d.h5:x[2:]"},
       readName},
      {"stablehlo", true, fixtures("artifacts", ".mlir"), readStablehlo},
      {"stage", true, stageTexts(), readStage},
      {"calls",
       false,
       {std::string(40, '\1'), std::string(10, '\2')},
       readCalls},
      {"artifact", false, fixtures("artifacts", ".mlirbc"), readArtifact},
  };
  for (FileReader &reader : sourceReaders(npz, members))
    readers.push_back(std::move(reader));
  return readers;
}
