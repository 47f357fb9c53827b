#include "catch2/catch.hpp"
#include "weft/base/SmallFloats.h"
#include "weft/data/formats/Npz.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>

using namespace weft;

static std::string scratch(const std::string &name) {
  auto folder = std::filesystem::temp_directory_path() / "weft-npz-test";
  std::filesystem::create_directories(folder);
  return (folder / name).string();
}

static void save(const std::string &path, const std::string &bytes) {
  Result<OutputFile> file = OutputFile::open(path);
  REQUIRE(file);
  file->write(bytes);
  REQUIRE(file->commit());
}

static std::string npyText(const std::string &dict, const std::string &data) {
  std::string header("\x93NUMPY\x01\x00", 8);
  header += char(dict.size() & 255);
  header += char(dict.size() >> 8);
  return header + dict + data;
}

static std::string messageOf(const std::string &bytes) {
  Result<Array> array =
      parseNpy(std::vector<uint8_t>(bytes.begin(), bytes.end()), "f.npy");
  REQUIRE_FALSE(array);
  return array.message();
}

TEST_CASE("an npz archive gives back the written arrays, for every dtype") {
  std::vector<NamedArray> arrays;
  for (int i = 0; i < elementTypeCount; ++i) {
    Array ramp = Array::zeros(ElementType::Float32, {2, 3});
    for (int k = 0; k < 6; ++k)
      ramp.data<float>()[k] = float(k);
    arrays.push_back({"a/" + std::string(name(ElementType(i))),
                      convert(ramp, ElementType(i))});
  }
  arrays.push_back({"scalar", Array::scalar<float>(ElementType::Float32, 7)});
  // An empty array has no address: the member's CRC is that of its header.
  arrays.push_back({"none", Array::zeros(ElementType::Float32, {0, 5})});
  std::string path = scratch("all.npz");
  REQUIRE(writeNpz(path, arrays));
  Result<std::vector<NamedArray>> back = readNpz(path);
  REQUIRE(back);
  REQUIRE(back->size() == arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    Array expected =
        npyArray(arrays[i].array); // bfloat16 is written as float32
    CHECK((*back)[i].name == arrays[i].name);
    CHECK((*back)[i].array.type == expected.type);
    CHECK((*back)[i].array.shape == expected.shape);
    CHECK((*back)[i].array.bytes == expected.bytes);
  }
}

TEST_CASE("slices and keys of the command line") {
  Array ramp = Array::zeros(ElementType::Int32, {10, 2});
  for (int k = 0; k < 20; ++k)
    ramp.data<int32_t>()[k] = k;
  std::string path = scratch("ramp.npz");
  REQUIRE(writeNpz(path, {{"x", ramp}}));
  CHECK(loadArray(path + ":x")->shape == Shape{10, 2});
  CHECK(loadArray(path + ":x[2:5]")->at(0) == 4);
  CHECK(loadArray(path + ":x[:5]")->shape[0] == 5);
  CHECK(loadArray(path + ":x[-3:]")->at(0) == 14);
  CHECK(loadArray(path + ":x[8:100]")->shape[0] == 2);
  CHECK(loadArray(path + ":x[5:5]").message().find("is empty") !=
        std::string::npos);
  CHECK(loadArray(path + ":x[1]").message().find("[begin:end]") !=
        std::string::npos);
  CHECK(loadArray(path).message().find("FILE.npz:KEY") != std::string::npos);
  CHECK(loadArray(path + ":y").message().find("no array 'y'; it has x") !=
        std::string::npos);
  std::string npy = scratch("ramp.npy");
  REQUIRE(writeNpy(npy, ramp));
  CHECK(loadArray(npy + "[1:3]")->at(3) == 5);
}

TEST_CASE("fortran order and big-endian are read as row-major, little-endian") {
  std::string data;
  for (int v : {1, 4, 2, 5, 3, 6}) // columns of ((1, 2, 3), (4, 5, 6))
    data += std::string("\0", 1) + char(v);
  Result<Array> array = [&] {
    std::string bytes = npyText(
        "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n", data);
    return parseNpy(std::vector<uint8_t>(bytes.begin(), bytes.end()), "f.npy");
  }();
  REQUIRE(array);
  for (int i = 0; i < 6; ++i)
    CHECK(array->at(i) == i + 1);
}

TEST_CASE("damaged arrays are refused before anything is allocated") {
  auto header = [](const std::string &descr, const std::string &shape) {
    return npyText("{'descr': " + descr +
                       ", 'fortran_order': False, 'shape': " + shape + "}",
                   "1234");
  };
  CHECK(messageOf("hello") == "f.npy: does not begin like a NumPy array; save "
                              "it with numpy.save or numpy.savez");
  CHECK(messageOf(header("'<f4'", "(2,)")) ==
        "f.npy: shape (2,) of float32 needs 8 bytes, the file holds 4; it was "
        "cut off or is damaged");
  CHECK(
      messageOf(header("'<f4'", "(4611686018427387904, 4)")).find("too many") !=
      std::string::npos);
  CHECK(messageOf(header("'<f4'", "(99999999999999999999,)"))
            .find("no tuple of sizes") != std::string::npos);
  CHECK(messageOf(header("'|O'", "(1,)")).find("dtype '|O' is not numeric") !=
        std::string::npos);
  CHECK(messageOf(header("[('a', '<f4')]", "(1,)")).find("structure") !=
        std::string::npos);
  CHECK(messageOf(header("'<f4'", "(1")).find("no tuple of sizes") !=
        std::string::npos);
  std::string huge("\x93NUMPY\x02\x00\xff\xff\xff\x7f", 12);
  CHECK(messageOf(huge).find("header: has 2147483647 bytes") !=
        std::string::npos);
}

TEST_CASE("archives that lie, and paths that are no files") {
  CHECK(readNpz("/dev/null").message().find("no regular file") !=
        std::string::npos);
  CHECK(readNpy("/tmp").message().find("is a directory") != std::string::npos);
  CHECK(readNpy("/nonexistent/x.npy").message().find("check the path") !=
        std::string::npos);
  std::string path = scratch("bad.npz");
  save(path, "not a zip");
  CHECK(readNpz(path).message().find("no ZIP archive") != std::string::npos);

  REQUIRE(writeNpz(path, {{"x", Array::zeros(ElementType::UInt8, {100})}}));
  Result<std::vector<uint8_t>> bytes = readFile(path);
  REQUIRE(bytes);
  std::string text(bytes->begin(), bytes->end());
  // The CRC finds a wrong byte in the data.
  std::string flipped = text;
  flipped[text.find("x.npy") + 5 + 128 + 50] ^= 1;
  save(path, flipped);
  CHECK(readNpz(path).message().find("CRC") != std::string::npos);
  // A member that claims to grow beyond the limit of DEFLATE.
  std::string bomb = text;
  for (size_t at : {text.find("PK\1\2") + 10, text.find("PK\3\4") + 8})
    bomb[at] = 8; // deflated
  for (size_t at : {text.find("PK\1\2") + 24, text.find("PK\3\4") + 22})
    std::memcpy(&bomb[at], "\xff\xff\xff\x7f", 4);
  save(path, bomb);
  CHECK(readNpz(path).message().find("no honest archive") != std::string::npos);
  // The archive is cut off.
  save(path, text.substr(0, text.size() / 2));
  CHECK_FALSE(readNpz(path));
}

TEST_CASE("conversions round as the hardware does") {
  CHECK(halfToFloat(floatToHalf(1.0f / 3)) == Approx(1.0 / 3).epsilon(1e-3));
  CHECK(floatToHalf(65504.0f) == 0x7BFF);
  CHECK(floatToHalf(65520.0f) == 0x7C00);
  CHECK(floatToHalf(5.9604645e-08f) == 1);
  CHECK(halfToFloat(0x8001) == -5.9604645e-08f);
  for (uint32_t bits = 0; bits < 0x7C00; ++bits)
    REQUIRE(floatToHalf(halfToFloat(uint16_t(bits))) == bits);
  CHECK(floatToBFloat(1.00390625f) == 0x3F80); // halfway: to even
  CHECK(floatToBFloat(1.01171875f) == 0x3F82);
  CHECK(smallToFloat(0x7E, e4m3fn) == 448);
  CHECK(floatToSmall(464, e4m3fn) == 0x7E); // halfway: to even
  CHECK(floatToSmall(465, e4m3fn) == 0x7F);
  CHECK(floatToSmall(61440, e5m2) == 0x7C);
  // The expected values are those of ml_dtypes: 5 is between 4 and 6, and even;
  // -0 and NaN depend on the format.
  CHECK(floatToSmall(5, e2m1fn) == 0x6);
  CHECK(floatToSmall(1e9f, e2m1fn) == 0x7);
  CHECK(floatToSmall(-0.0f, e4m3fnuz) == 0);
  CHECK(floatToSmall(1e9f, e5m2fnuz) == 0x80);
  CHECK(floatToSmall(29, e4m3b11fnuz) == 0x7E);
  CHECK(floatToSmall(3, e8m0fnu) == 129); // halfway: up
  CHECK(floatToSmall(0, e8m0fnu) == 0xFF);
  Array x = Array::scalar<float>(ElementType::Float32, 300.7f);
  CHECK(convert(x, ElementType::UInt8).at(0) == 255);
  CHECK(convert(x, ElementType::Int64).at(0) == 300);
  x.data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  CHECK(convert(x, ElementType::Int32).at(0) == 0);
}

TEST_CASE("every byte of a short type is its value, and back") {
  for (int i = 0; i < elementTypeCount; ++i) {
    ElementType type = ElementType(i);
    if (carrierOf(type) == type)
      continue;
    bool four = type == ElementType::Float4E2M1FN ||
                type == ElementType::Int4 || type == ElementType::UInt4;
    int count = four                                                      ? 16
                : type == ElementType::Int2 || type == ElementType::UInt2 ? 4
                                                                          : 256;
    Array bytes = Array::zeros(type, {count});
    for (int k = 0; k < count; ++k)
      bytes.bytes[k] = uint8_t(k);
    Array wide = convert(bytes, ElementType::Float64),
          back = convert(wide, type);
    INFO(name(type));
    for (int k = 0; k < count; ++k)
      REQUIRE((back.bytes[k] == k || wide.at(k) != wide.at(k)));
    Array saved = npyArray(bytes);
    CHECK(convert(saved, ElementType::Float64).at(1) == wide.at(1));
  }
  Array numbers = Array::zeros(ElementType::Int32, {2});
  numbers.data<int32_t>()[0] = 9;
  numbers.data<int32_t>()[1] = -3;
  CHECK(convert(numbers, ElementType::Int4).at(0) == -7); // integers wrap
  CHECK(convert(convert(numbers, ElementType::Float32), ElementType::Int4)
            .at(0) == 7); // floats saturate
  CHECK(convert(numbers, ElementType::UInt4).at(1) == 13);
  // The file is one of ml_dtypes, which saves all types but float8_e5m2 as V1.
  Array read = *parseNpy(
      [] {
        std::string text =
            npyText("{'descr': '|V1', 'fortran_order': False, 'shape': (2,), }",
                    "\x0D\x07");
        return std::vector<uint8_t>(text.begin(), text.end());
      }(),
      "f.npy");
  takeBytesAs(ElementType::Int4, read);
  CHECK(read.at(0) == -3);
  CHECK(read.at(1) == 7);
}

TEST_CASE("blocks of an array are boxes that follow each other") {
  for (const Shape &shape : std::vector<Shape>{
           {}, {1}, {7}, {3, 5}, {2, 3, 4}, {1, 9, 1}, {4, 1, 2, 3}, {0, 3}})
    for (int64_t most : {1, 2, 3, 7, 24, 1000}) {
      CAPTURE(text(shape), most);
      uint64_t next = 0;
      for (const ArrayBlock &block : blocksOf(shape, most)) {
        CHECK(block.first == next);
        CHECK(block.count == *elementCount(block.sizes));
        CHECK((block.count <= most || block.count == 1));
        // The positions of the block's first and last element, from their
        // indices.
        uint64_t first = 0, last = 0;
        for (size_t d = 0; d < shape.size(); ++d) {
          first = first * uint64_t(shape[d]) + uint64_t(block.starts[d]);
          last = last * uint64_t(shape[d]) +
                 uint64_t(block.starts[d] + block.sizes[d] - 1);
        }
        CHECK(first == block.first);
        CHECK(last == block.first + uint64_t(block.count) - 1);
        next += uint64_t(block.count);
      }
      CHECK(next == uint64_t(*elementCount(shape)));
    }
}

TEST_CASE("arrays of an archive are read block by block") {
  Array ramp = Array::zeros(ElementType::Int32, {5, 3, 7});
  std::iota(ramp.data<int32_t>(), ramp.data<int32_t>() + ramp.count(), 0);
  std::string path = scratch("blocks.npz");
  REQUIRE(writeNpz(path, {storedInMemory({"x", ramp})}, /*writesFile=*/true));
  // Both readers give the whole array: readNpz, and openNpz below.
  CHECK(readNpz(path)->front().array.bytes == ramp.bytes);
  Result<std::vector<StoredArray>> stored = openNpz(path);
  REQUIRE(stored);
  REQUIRE(stored->size() == 1);
  const StoredArray &x = stored->front();
  CHECK(x.name == "x");
  CHECK(x.shape == ramp.shape);
  CHECK(x.read()->bytes == ramp.bytes);
  for (int64_t most : {1, 7, 20}) {
    std::vector<uint8_t> bytes;
    for (const ArrayBlock &block : blocksOf(x.shape, most)) {
      Result<Array> part = x.readBlock(block);
      REQUIRE(part);
      CHECK(part->shape == block.sizes);
      bytes.insert(bytes.end(), part->bytes.begin(), part->bytes.end());
    }
    CHECK(bytes == ramp.bytes);
  }
}
