//===- FileReaders.cpp - every reader of a foreign file -------------------===//

#include "weft/test/fuzz/FileReaders.h"

#include "weft/compiler/frontends/keras/distribution/Distribution.h"
#include "weft/compiler/frontends/keras/import/Import.h"
#include "weft/compiler/frontends/keras/model/SavedPaths.h"
#include "weft/runtime/data/KerasArchive.h"
#include "weft/runtime/program/WriteAll.h"

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

/// Hands the bytes on as a file in memory, for readers that want a path.
static bool withFile(const std::string &bytes,
                     const std::function<bool(const std::string &)> &read) {
  int file = memfd_create("fuzz", MFD_CLOEXEC);
  bool written = writeAll(file, bytes.data(), bytes.size());
  bool accepted = written && read("/proc/self/fd/" + std::to_string(file));
  close(file);
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
    keras::variableMetadata(variable);
  for (const keras::Distribution &distribution : layouts)
    keras::resolveLayouts(distribution, *model);
  return true;
}

/// A model that is read has steps, or they are refused.
static bool importModelText(const std::string &text) {
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) {});
  auto model = keras::readModel(text, {});
  if (!model)
    return false;
  keras::ImportOptions options;
  options.batchSize = 2;
  for (keras::StepKind step :
       {keras::StepKind::Predict, keras::StepKind::Train})
    if (auto module =
            keras::importStep(&context, *model, nullptr, step, options);
        succeeded(module) && failed(mlir::verify(**module)))
      abort();
  return true;
}

/// The models of the cases in fixtures/layers, which stand one in a line.
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

static bool readArchive(const std::string &bytes) {
  return withFile(bytes, [](const std::string &path) {
    return bool(readKerasArchive(path, {readerLimit}));
  });
}

static bool readNpzFile(const std::string &bytes) {
  return withFile(bytes, [](const std::string &path) {
    return bool(readNpz(path, {readerLimit}));
  });
}

static bool readWeights(const std::string &bytes) {
  std::vector<uint8_t> image = asBytes(bytes);
  return bool(readHdf5(image, "fuzz.h5", {readerLimit}));
}

static std::string asText(const std::vector<uint8_t> &bytes) {
  return {bytes.begin(), bytes.end()};
}

std::vector<FileReader> weft::test::fileReaders() {
  std::vector<std::string> models = fixtures("keras", ".json");
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
  return {
      {"model", true, models, readModelText},
      {"layers", true, modelsOfCases(), importModelText},
      {"distribution", true, fixtures("seed-functional-mlp", "8.json"),
       readDistributionText},
      {"npy", false, arrays, readArray},
      {"npz", false, npz, readNpzFile},
      {"keras", false, archives, readArchive},
      {"hdf5", false, members, readWeights},
      {"plan", false, samplePlans(), readPlan},
      {"weft", false, samplePrograms(), readProgram},
      {"command", true, {"f.npz:x[0:1280]", "a.npy[:-1]"}, readName},
      {"stablehlo", true, fixtures("artifacts", ".mlir"), readStablehlo},
      {"calls",
       false,
       {std::string(40, '\1'), std::string(10, '\2')},
       readCalls},
      {"artifact", false, fixtures("artifacts", ".mlirbc"), readArtifact},
  };
}
