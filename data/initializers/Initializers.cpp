//===- Initializers.cpp - the first value of a variable -------------------===//

#include "weft/data/initializers/Initializers.h"

#include "weft/base/config/OptionReader.h"
#include "weft/data/initializers/Initializer.h"

namespace weft {

using keras::InitializerPtr, keras::Json;

/// Moves the axes of fans, which are the variable's, out of the config.
static void takeAxes(Json &said, keras::Drawn &array) {
  if (!said.is_object() || !said.contains("config") ||
      !said["config"].is_object())
    return;
  for (auto [key, axes] : {std::pair("input_axes", &array.inputAxes),
                           std::pair("output_axes", &array.outputAxes)}) {
    Json given = said["config"].value(key, Json());
    if (given.is_null() || !given.is_array())
      continue;
    for (const Json &axis : given)
      axes->push_back(axis.is_number_integer() ? axis.get<int64_t>()
                                               : INT64_MAX);
    said["config"].erase(key);
  }
}

/// The state of Keras' SeedGenerator begins as its seed and 0.
static Result<StoredArray> seedState(const keras::Drawn &of) {
  if (!of.seed)
    return Error{"has no seed; give one with " + Option{"seed"}};
  if (of.shape != Shape{2})
    return Error{"a seed state has shape (2,), the program says " +
                 text(of.shape)};
  Array key = Array::zeros(ElementType::UInt32, of.shape);
  key.data<uint32_t>()[0] = *of.seed;
  return storedInMemory({"", std::move(key)});
}

Result<StoredArray> initialArray(std::string_view json,
                                 std::optional<uint32_t> seed,
                                 const Shape &shape, ElementType type) {
  Result<Json> said = keras::parseJson(json);
  if (!said)
    return said.error().in("initializer " + std::string(json.substr(0, 80)));
  keras::Drawn array{shape, type, seed};
  takeAxes(*said, array);
  Status status;
  auto made = std::static_pointer_cast<const keras::Initializer>(readObject(
      *said, keras::variableInitializerTable(), "initializer", status));
  if (!status)
    return status.error();
  if (!elementCount(shape))
    return Error{"initializer " + made->className + ": the shape " +
                 text(shape) + " is too large"};
  if (made->className == keras::kSeedGenerator)
    return seedState(array);
  Result<keras::Draw> draw = made->draw(array);
  if (!draw)
    return draw.error();
  return StoredArray{
      "", ElementType::Float32, shape, [draw = *draw](const ArrayBlock &block) {
        Array values = Array::zeros(ElementType::Float32, block.sizes);
        draw(block.first, {values.data<float>(), size_t(block.count)});
        return Result<Array>(std::move(values));
      }};
}

Result<Array> initialize(std::string_view json, std::optional<uint32_t> seed,
                         const Shape &shape, ElementType type) {
  Result<StoredArray> array = initialArray(json, seed, shape, type);
  return array ? array->read() : array.error();
}

} // namespace weft
