// .keras files of Keras 3.15 are read, written by Weft and read back.
// test/keras/check-archive.py loads the files of this test in WEFT_ARCHIVE_OUT.
#include "catch2/catch.hpp"
#include "weft/data/formats/KerasArchive.h"
#include "weft/data/formats/Npz.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

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
  Result<std::vector<StoredArray>> weights =
      byVariablePath(archive->weights, variables(), archivePath);
  REQUIRE(weights);
  Result<NpzFile> golden =
      NpzFile::open(WEFT_FIXTURES "/seed-functional-mlp/golden.npz");
  REQUIRE(golden);
  for (const StoredArray &named : *weights) {
    if (!golden->contains("initial/" + named.name))
      continue;
    INFO(named.name);
    Array expected = *golden->read("initial/" + named.name);
    CHECK(named.shape == expected.shape);
    CHECK(named.read()->bytes == expected.bytes);
  }
  CHECK(weights->size() >= 3);
}

TEST_CASE("an archive is read back as written, in Keras' groups") {
  Result<KerasArchive> archive = readKerasArchive(archivePath);
  REQUIRE(archive);
  for (StoredArray &named : archive->weights)
    if (named.name == "layers/dense_1/vars/1") {
      Array changed = *named.read();
      changed.data<float>()[0] = 42; // check-archive.py looks for it
      named = storedInMemory({named.name, changed});
    }
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
    CHECK(back->weights[i].type == archive->weights[i].type);
    CHECK(back->weights[i].read()->bytes == archive->weights[i].read()->bytes);
  }
  REQUIRE(
      writeWeightsH5(scratch("written.weights.h5"), groups, archive->weights));
  CHECK(openHdf5(scratch("written.weights.h5"))->size() ==
        archive->weights.size());
}

/// Writes a weights file of these arrays and returns its path.
static std::string fileOf(const std::vector<NamedArray> &arrays) {
  std::vector<StoredArray> stored;
  for (const NamedArray &array : arrays)
    stored.push_back(storedInMemory(array));
  std::string path = scratch("x.weights.h5");
  REQUIRE(writeWeightsH5(path, {}, stored));
  return path;
}

TEST_CASE("every dtype goes through HDF5") {
  std::vector<NamedArray> arrays;
  for (int i = 0; i < elementTypeCount; ++i) {
    Array ramp = Array::zeros(ElementType::Float32, {5});
    for (int k = 0; k < 5; ++k)
      ramp.data<float>()[k] = float(k) / 2;
    arrays.push_back({"a/" + std::to_string(i), convert(ramp, ElementType(i))});
  }
  Result<std::vector<StoredArray>> back = openHdf5(fileOf(arrays));
  REQUIRE(back);
  REQUIRE(back->size() == arrays.size());
  for (const StoredArray &named : *back) {
    Array sent = arrays[std::stoi(named.name.substr(2))].array;
    sent = convert(
        sent,
        carrierOf(
            sent.type)); // a type that numpy has no name for is stored in a wider one
    INFO(named.name);
    CHECK(named.read()->bytes == sent.bytes);
    if (sent.type != ElementType::Bool) // comes back as uint8
      CHECK(named.type == sent.type);
  }
}

TEST_CASE("arrays of a file are read when they are asked for") {
  std::string path = fileOf({{"a", Array::zeros(ElementType::Float32, {100})}});
  Result<std::vector<StoredArray>> arrays = openHdf5(path);
  REQUIRE(arrays);
  CHECK(arrays->front().bytes() == 400);
  std::filesystem::resize_file(path, 100);
  Result<Array> cut = arrays->front().read();
  CHECK(cut.message() ==
        path +
            ": a: has fewer bytes than its shape; the file was changed while "
            "it was in use, or the disk fails");
}

TEST_CASE("a dataset that is written twice is an error") {
  StoredArray one =
      storedInMemory({"a", Array::zeros(ElementType::Float32, {})});
  Status written = writeWeightsH5(scratch("twice.weights.h5"), {}, {one, one});
  CHECK(written.message().find("a cannot be written; is it given twice") !=
        std::string::npos);
}

TEST_CASE("damaged weight files are errors") {
  std::string path = fileOf({{"a", Array::zeros(ElementType::Float32, {100})}});
  CHECK(openHdf5(path, {.bytes = 10}).message().find("limit of 10 bytes") !=
        std::string::npos);
  auto size = std::filesystem::file_size(path);
  for (auto keep : {size - 300, size / 2, size / 4}) {
    std::filesystem::resize_file(path, keep);
    auto found = openHdf5(path); // an error or the data, never a crash
    CHECK((found || found.message().starts_with(path + ": ")));
  }
  std::FILE *nonsense = std::fopen(path.c_str(), "wb");
  std::fputs("1234567890", nonsense);
  std::fclose(nonsense);
  CHECK(openHdf5(path).message().find("no HDF5 file") != std::string::npos);
  CHECK(byVariablePath({}, variables(), "f.keras").message() ==
        "f.keras: has no dataset layers/dense/vars/0 for the variable "
        "d1/kernel; the file belongs to another model");
}
