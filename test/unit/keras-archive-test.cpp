// .keras files against those of Keras 3.15, and back through our own writer.
// test/keras/check-archive.py loads what this test leaves in WEFT_ARCHIVE_OUT.
#include "catch2/catch.hpp"
#include "weft/runtime/data/KerasArchive.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sys/resource.h>

using namespace weft;

static constexpr const char *archivePath =
    WEFT_FIXTURES "/seed-functional-mlp/model.keras";
static std::vector<SavedVariable> variables() {
  return {{"d1/kernel", "layers/dense/vars/0"},
          {"d2/kernel", "layers/dense_1/vars/0"},
          {"d2/bias", "layers/dense_1/vars/1"},
          {"rm_sprop/iteration", "optimizer/vars/0", true}};
}

static std::string scratch(const std::string &name) {
  const char *asked = std::getenv("WEFT_ARCHIVE_OUT");
  std::filesystem::path folder =
      asked ? std::filesystem::path(asked)
            : std::filesystem::temp_directory_path() / "weft-archive-test";
  std::filesystem::create_directories(folder);
  return (folder / name).string();
}

TEST_CASE("a .keras file of Keras gives its weights by variable path") {
  Result<KerasArchive> archive = readKerasArchive(archivePath);
  INFO((archive ? "" : archive.message()));
  REQUIRE(archive);
  CHECK(archive->config.starts_with("{\"module\": "));
  CHECK(archive->metadata.find("3.15.1") != std::string::npos);
  Result<std::vector<NamedArray>> weights =
      byVariablePath(archive->weights, variables(), archivePath);
  REQUIRE(weights);
  Result<NpzFile> golden =
      NpzFile::open(WEFT_FIXTURES "/seed-functional-mlp/golden.npz");
  REQUIRE(golden);
  for (const NamedArray &named : *weights) {
    if (!golden->contains("initial/" + named.name))
      continue;
    INFO(named.name);
    Array expected = *golden->read("initial/" + named.name);
    CHECK(named.array.shape == expected.shape);
    CHECK(named.array.bytes == expected.bytes);
  }
  CHECK(weights->size() >= 3);
}

TEST_CASE(
    "what is written is read back, and lies in the file as Keras lays it out") {
  Result<KerasArchive> archive = readKerasArchive(archivePath);
  REQUIRE(archive);
  for (NamedArray &named : archive->weights)
    if (named.name == "layers/dense_1/vars/1")
      named.array.data<float>()[0] = 42; // check-archive.py looks for it
  std::vector<Hdf5Group> groups = {
      {"vars", "functional"},      {"layers/input_layer/vars", "images"},
      {"layers/dense/vars", "d1"}, {"layers/dense_1/vars", "d2"},
      {"layers/dropout/vars", ""}, {"layers/flatten/vars", ""}};
  std::string path = scratch("written.keras");
  Status written = writeKerasArchive(path, *archive, groups);
  INFO((written ? "" : written.message()));
  REQUIRE(written);
  Result<KerasArchive> back = readKerasArchive(path);
  REQUIRE(back);
  CHECK(back->config == archive->config);
  REQUIRE(back->weights.size() == archive->weights.size());
  for (size_t i = 0; i < back->weights.size(); ++i) {
    CHECK(back->weights[i].name == archive->weights[i].name);
    CHECK(back->weights[i].array.type == archive->weights[i].array.type);
    CHECK(back->weights[i].array.bytes == archive->weights[i].array.bytes);
  }
  REQUIRE(
      writeWeightsH5(scratch("written.weights.h5"), groups, archive->weights));
  CHECK(readWeightsH5(scratch("written.weights.h5"))->size() ==
        archive->weights.size());
}

TEST_CASE("every dtype goes through HDF5") {
  std::vector<NamedArray> arrays;
  for (int i = 0; i < elementTypeCount; ++i) {
    Array ramp = Array::zeros(ElementType::Float32, {5});
    for (int k = 0; k < 5; ++k)
      ramp.data<float>()[k] = float(k) / 2;
    arrays.push_back({"a/" + std::to_string(i), convert(ramp, ElementType(i))});
  }
  Result<std::vector<uint8_t>> bytes = writeHdf5({}, arrays);
  REQUIRE(bytes);
  Result<std::vector<NamedArray>> back = readHdf5(*bytes, "x.h5");
  REQUIRE(back);
  REQUIRE(back->size() == arrays.size());
  for (const NamedArray &named : *back) {
    Array sent = arrays[std::stoi(named.name.substr(2))].array;
    sent =
        convert(sent, carrierOf(sent.type)); // numpy has no type for short ones
    INFO(named.name);
    CHECK(named.array.bytes == sent.bytes);
    if (sent.type != ElementType::Bool) // comes back as uint8
      CHECK(named.array.type == sent.type);
  }
}

TEST_CASE("weights that the reader's process cannot pass on are an error") {
  Result<std::vector<uint8_t>> bytes =
      writeHdf5({}, {{"a", Array::zeros(ElementType::Float32, {100})}});
  REQUIRE(bytes);
  rlimit before;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  rlimit small = {100, before.rlim_max};
  auto *action = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  auto found = readHdf5(*bytes, "x.h5");
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, action);
  CHECK(found.message().find("cannot pass on its result; free some memory") !=
        std::string::npos);
}

TEST_CASE("damaged weight files are errors") {
  std::vector<uint8_t> nonsense(100, 7);
  CHECK(readHdf5(nonsense, "x.h5").message().find("no HDF5 file") !=
        std::string::npos);
  Result<std::vector<uint8_t>> bytes =
      writeHdf5({}, {{"a", Array::zeros(ElementType::Float32, {100})}});
  REQUIRE(bytes);
  CHECK(readHdf5(*bytes, "x.h5", {.bytes = 10})
            .message()
            .find("limit of 10 bytes") != std::string::npos);
  for (size_t keep :
       {bytes->size() / 4, bytes->size() / 2, bytes->size() - 300}) {
    std::vector<uint8_t> cut(bytes->begin(), bytes->begin() + keep);
    auto found = readHdf5(cut, "x.h5"); // an error or the data, never a crash
    CHECK((found || found.message().starts_with("x.h5: ")));
  }
  CHECK(byVariablePath({}, variables(), "f.keras").message() ==
        "f.keras: has no dataset layers/dense/vars/0 for the variable "
        "d1/kernel; the file belongs to another model");
}
